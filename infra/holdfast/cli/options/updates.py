"""Options and output of the verbs that run the engine."""

import click

from holdfast.cli.options.intervals import seconds_option
from holdfast.operations.stack.context import StackContext

TIMEOUT = seconds_option(
    "timeout",
    StackContext.engine_timeout_seconds,
    "Timeout of each engine run; steps in flight are finished.",
)


def print_result(text: str, output: str) -> None:
    """Print what came of an update: `json` to standard output, else a line to standard error."""
    click.echo(text, nl=False, err=output != "json")
