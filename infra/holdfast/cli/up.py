"""`holdfast up`: deploys the checked-out commit to a stack."""

import click

from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.updates import TIMEOUT, print_update
from holdfast.errors import ExitCode
from holdfast.operations.deploy.guarded import GuardedUpdate
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.tracing import traced_update


@click.command()
@stack_option("Stack to update.")
@click.option(
    "--allow-dirty",
    "dirty_reason",
    metavar="REASON",
    default="",
    help="Use files that are not committed; the history says so, and why.",
)
@click.option(
    "--recover", is_flag=True, help="Recover from an interrupted update before deploying."
)
@click.option(
    "--take-over",
    "force_ownership",
    is_flag=True,
    help="Manage what Flux or Argo CD has managed until now; suspend them first.",
)
@click.option("--reason", default="", help="Why, for the history.")
@click.option(
    "--continue-on-error",
    is_flag=True,
    help="Update what does not depend on what failed; the update has failed all the same.",
)
@TIMEOUT
@OUTPUT
def command(
    stack: str,
    dirty_reason: str,
    reason: str,
    output: str,
    timeout_seconds: float,
    **flags: bool,
) -> ExitCode:
    """Bring a stack's cluster to what the checked out commit declares.

    A thin front of `pulumi up`: checks the manifests, refuses files that are not committed, asks
    the policy pack about a preview, updates, waits until agents are ready, and records commit,
    author, pull request, operator, policy result and outcome: in the stack's history (see
    `holdfast history`), in its outputs `commit` and `dirty`, and in its tags of those names. A
    plain `pulumi up` goes on working, and its commit is recorded, too.

    Who did it is HOLDFAST_OPERATOR, else what GitHub or GitLab says, else user@host; the pull
    request is HOLDFAST_PULL_REQUEST, else what they or the commit's message say.

    A run that was killed leaves its lock, and says of objects that they are half done; the next one
    is refused and says so. With --recover it removes the lock of a process of this machine that has
    ended (of no other), and does again what was begun: objects have names of their own, so that
    none is created twice. Nothing is written before the policy pack has passed the preview.

    Objects that Flux or Argo CD manages are refused: two managers would overwrite each other. With
    --take-over, once that engine is suspended, Holdfast manages the same objects.

    \b
    Examples:
      holdfast up -s dev
      holdfast up -s dev --recover
      holdfast up -s prod --reason "raise the limits for the sale" -o json
      holdfast up -s dev --allow-dirty "trying a fix by hand"
      holdfast up -s prod --continue-on-error

    \b
    Exit codes: 0 done   1 the update failed   2 bad input, or not committed   5 policy
      6 no such stack   8 cancelled   9 timeout
    """
    request = UpdateRequest(
        reason=reason,
        dirty_reason=dirty_reason,
        recover=flags["recover"],
        force_ownership=flags["force_ownership"],
        continue_on_error=flags["continue_on_error"],
    )
    context = StackContext(find_project_root(), stack, timeout_seconds)
    with traced_update(request.action, stack, reason, TERMINAL) as tracer:
        update = StackUpdate(context, request, TERMINAL, tracer)
        print_update(GuardedUpdate(update, context).run(), output)
    return ExitCode.OK
