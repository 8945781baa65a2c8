"""Options and output of the verbs that run the engine."""

import click

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.cli.options.output import TERMINAL
from holdfast.operations.stack.context import StackContext
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.history_text import update_line

TIMEOUT = click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(min=1),
    default=StackContext.engine_timeout_seconds,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of each engine run; steps in flight are finished.",
)


def print_update(record: UpdateRecord, output: str) -> None:
    """Print it: `json` to standard output, else a line to standard error."""
    if output == "json":
        click.echo(updates_json(record.stack, [record]), nl=False)
    else:
        TERMINAL.step(update_line(record))
