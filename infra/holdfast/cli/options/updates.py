"""What an update came to, on a terminal."""

import click

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.cli.options.output import TERMINAL
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.history_text import update_line


def print_update(record: UpdateRecord, output: str) -> None:
    """Print it: `json` to standard output, else a line to standard error."""
    if output == "json":
        click.echo(updates_json(record.stack, [record]), nl=False)
    else:
        TERMINAL.step(update_line(record))
