"""`holdfast recover`: rebuilds the lost state of a stack."""

import click

from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.updates import TIMEOUT
from holdfast.errors import ExitCode
from holdfast.operations.deploy.recovery import RecoveryRequest, recover
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.action_text import recovery_json, recovery_text


@click.command()
@stack_option("Stack whose state is lost.")
@click.option(
    "--replace",
    "replaces",
    is_flag=True,
    help="Rebuild from the cluster even if there is a state; the old file is kept.",
)
@click.option(
    "--reason", default="the state was lost", show_default=True, help="Why, for the history."
)
@TIMEOUT
@OUTPUT
def command(
    stack: str, reason: str, output: str, *, timeout_seconds: float, replaces: bool
) -> ExitCode:
    """Rebuild the lost Pulumi state of a stack from the manifests and the cluster.

    A state that cannot be read is moved aside, and the newest readable copy is restored. Without a
    copy, or with --replace, Pulumi plans the program from nothing; every planned object that the
    cluster has is imported as it is, the others are left for the next update to create. A preview
    and a drift scan then report what differs. Nothing is written to the cluster.

    Check out the commit that was deployed last (`holdfast history STACK`): objects that the files
    no longer declare are not in the new state; the scan lists them as unmanaged.

    A state that is only locked or has pending operations needs `holdfast up --recover`.

    \b
    Examples:
      holdfast recover -s dev
      holdfast recover -s prod --replace --reason "the state file is truncated"

    \b
    Exit codes: 0 recovered, no drift   7 recovered; something differs or was not
      compared   1 failed: the state is unchanged   2 bad input
    """
    context = StackContext(find_project_root(), stack, timeout_seconds)
    result = recover(context, RecoveryRequest(replaces, reason), TERMINAL)
    text = recovery_json(stack, result) if output == "json" else recovery_text(stack, result)
    click.echo(text, nl=False)
    return ExitCode.OK if result.is_equal else ExitCode.DRIFT
