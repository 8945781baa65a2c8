"""`holdfast gitops resume`: the Git loops of a stack act again. Wiring only."""

import click

from holdfast.cli.options.stack import stack_option
from holdfast.errors import ExitCode
from holdfast.operations.stack.agent_stack import resume
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root


@click.command()
@stack_option("Stack to resume.")
@click.option("--reason", default="", help="Why; shown in the history.")
def command(stack: str, reason: str) -> ExitCode:
    """Resume reconciliation of a stack, and end its field-ownership conflicts.

    The loop reverts fields again that it only reported because other clients kept writing them.

    \b
    Example:
      holdfast gitops resume -s prod --reason "the other controller is off"
    """
    ended = resume(StackContext(find_project_root(), stack), reason)
    was = f"was {ended}" if ended else "was not suspended; field conflicts are over"
    click.echo(f"resumed: {stack} ({was})", err=True)
    return ExitCode.OK
