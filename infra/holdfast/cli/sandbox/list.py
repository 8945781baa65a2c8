"""`holdfast sandbox list`: every sandbox of this machine."""

import click

from holdfast.cli.sandbox.options import output_option
from holdfast.report.text.sandbox_text import list_json, list_text
from holdfast.sandbox.health import sandbox_status
from holdfast.sandbox.paths import existing_sandboxes


@click.command()
@output_option
def command(form: str) -> None:
    """List all sandboxes, running or not.

    \b
    Example:
      holdfast sandbox list
    """
    statuses = [sandbox_status(place) for place in existing_sandboxes()]
    if form == "json":
        click.echo(list_json(statuses))
    elif statuses:
        click.echo(list_text(statuses))
    else:
        click.echo("there is no sandbox; 'holdfast sandbox up' makes one", err=True)
