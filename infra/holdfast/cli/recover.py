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
    help="Rebuild the state from the cluster although there is one; the old file is kept.",
)
@click.option("--reason", default="the state was lost", show_default=True, help="For the history.")
@TIMEOUT
@OUTPUT
def command(
    stack: str, reason: str, output: str, *, timeout_seconds: float, replaces: bool
) -> ExitCode:
    """Rebuild the lost state of a stack, from the files here and from what the cluster has.

    A state that is there and cannot be read is put aside, and the newest copy taken that can. Where
    there is none, or with --replace, the engine plans the program as if nothing were there; every
    object of the plan that the cluster has becomes part of the new state, as it runs; what is not
    there is left for the next update to create. A preview and a drift scan then say what differs.
    Nothing is written to the cluster.

    Check out the commit that was deployed last (`holdfast history STACK`): objects that the files
    no longer declare are not in the new state; the scan lists them as unmanaged.

    A state that is only locked or half done needs no rebuilding: see `holdfast up --recover`.

    \b
    Examples:
      holdfast recover -s dev
      holdfast recover -s prod --replace --reason "the state file was cut off"

    \b
    Exit codes: 0 recovered, and as declared   7 recovered, and something differs or could not be
      compared   1 failed: the state is as before   2 bad input
    """
    context = StackContext(find_project_root(), stack, timeout_seconds)
    result = recover(context, RecoveryRequest(replaces, reason), TERMINAL)
    text = recovery_json(stack, result) if output == "json" else recovery_text(stack, result)
    click.echo(text, nl=False)
    return ExitCode.OK if result.is_equal else ExitCode.DRIFT
