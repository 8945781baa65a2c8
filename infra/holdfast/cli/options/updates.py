"""Options and output of the verbs that run the engine."""

import click

from holdfast.operations.stack.context import StackContext

TIMEOUT = click.option(
    "--timeout",
    "timeout_seconds",
    type=click.FloatRange(min=1),
    default=StackContext.engine_timeout_seconds,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of each engine run; steps in flight are finished.",
)


def print_result(text: str, output: str) -> None:
    """Print what came of an update: `json` to standard output, else a line to standard error."""
    click.echo(text, nl=False, err=output != "json")
