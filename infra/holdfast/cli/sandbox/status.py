"""`holdfast sandbox status`: whether a sandbox is fit for use."""

import click

from holdfast.cli.sandbox.options import name_option, output_option
from holdfast.errors import ExitCode
from holdfast.report.text.sandbox_text import status_json, status_text
from holdfast.sandbox.health import sandbox_status
from holdfast.sandbox.paths import SandboxPaths


@click.command()
@name_option
@output_option
def command(place: SandboxPaths, form: str) -> int:
    """Show whether a sandbox is ready, its programs and their memory.

    Ends with 1 unless it is running and ready, and says what to do.

    \b
    Examples:
      holdfast sandbox status
      holdfast sandbox status -o json
    """
    found = sandbox_status(place)
    click.echo(status_json(found) if form == "json" else status_text(found))
    if found.is_healthy:
        return ExitCode.OK
    click.echo(f"error: {found.reason}", err=True)
    return ExitCode.ERROR
