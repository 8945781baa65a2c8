"""`holdfast sandbox list`: every sandbox of this machine."""

import click

from holdfast.cli.options.output import LIST_OUTPUT
from holdfast.report.text.listed import listed
from holdfast.report.text.sandbox_text import list_json, list_text, list_wide_text
from holdfast.sandbox.health import sandbox_status
from holdfast.sandbox.paths import existing_sandboxes


@click.command()
@LIST_OUTPUT
def command(output: str) -> None:
    """List all sandboxes, running or not.

    \b
    Example:
      holdfast sandbox list
    """
    statuses = [sandbox_status(place) for place in existing_sandboxes()]
    if statuses or output in {"json", "yaml"}:
        text = listed(
            output,
            text=lambda: f"{list_text(statuses)}\n",
            wide=lambda: f"{list_wide_text(statuses)}\n",
            document=lambda: f"{list_json(statuses)}\n",
            names=(each.place.name for each in statuses),
        )
        click.echo(text, nl=False)
    else:
        click.echo("there is no sandbox; 'holdfast sandbox up' makes one", err=True)
