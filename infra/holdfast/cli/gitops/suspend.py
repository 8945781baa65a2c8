"""`holdfast gitops suspend`: suspend the Git loops of a stack, wherever they run. Wiring only."""

import click

from holdfast.cli.options.stack import stack_option
from holdfast.errors import ExitCode
from holdfast.operations.stack.agent_stack import suspend
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root


@click.command()
@stack_option("Stack to suspend.")
@click.option("--reason", required=True, help="Why; shown in the status, the history and the log.")
def command(stack: str, reason: str) -> ExitCode:
    """Suspend reconciliation of a stack until `holdfast gitops resume`, on every machine.

    Sets spec.suspend of the stack's AgentStack in its cluster, with user, time and reason. A loop
    ends the work that is under way and changes nothing more; `holdfast up` still works.

    \b
    Examples:
      holdfast gitops suspend -s prod --reason "investigating latency"
      holdfast gitops resume -s prod
    """
    suspend(StackContext(find_project_root(), stack), reason)
    click.echo(f"suspended: {stack} ({reason})", err=True)
    return ExitCode.OK
