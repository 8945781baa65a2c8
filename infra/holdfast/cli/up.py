"""`holdfast up`: deploys the checked-out commit to a stack."""

import click

from holdfast.cli.options.confirm import confirm_on_terminal
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.updates import TIMEOUT, print_result
from holdfast.errors import ExitCode
from holdfast.operations.deploy.guarded import GuardedUpdate
from holdfast.operations.deploy.plan_summary import has_changes, is_same_change, summary_lines
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate, UpdatePlan
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.tracing import traced_update
from holdfast.report.text.history_text import update_result


@click.command()
@stack_option("Stack to update.")
@click.option(
    "--allow-dirty",
    "dirty_reason",
    metavar="REASON",
    default="",
    help="Deploy files that are not committed; the history records why.",
)
@click.option(
    "--recover", is_flag=True, help="Recover from an interrupted update before deploying."
)
@click.option(
    "--take-over",
    "force_ownership",
    is_flag=True,
    help="Manage objects of Flux or Argo CD, which you have suspended.",
)
@click.option("--reason", default="", help="Why, for the history.")
@click.option(
    "--continue-on-error",
    is_flag=True,
    help="Update objects that do not depend on a failed one; still exit code 1.",
)
@click.option("-y", "--yes", "is_agreed", is_flag=True, help="Update without asking.")
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
    """Deploy the checked-out commit to a stack.

    Runs `pulumi up` after these checks: the manifests are valid, the files are committed, and the
    policy pack accepts the preview; nothing is written before. On a terminal it shows what would
    change and asks, unless --yes is given or nothing would. Waits until agents are ready, then
    compares the cluster with the files: drift is reported, and exit code 0 stays.
    Records commit, author, pull request, operator, policy result and outcome in the stack's history
    (`holdfast history`), and the commit in its outputs and tags. A plain `pulumi up` still works
    and records its commit.

    The operator is HOLDFAST_OPERATOR, else the user of GitHub or GitLab, else user@host; the pull
    request is HOLDFAST_PULL_REQUEST, else that of the job or of the commit's message.

    An interrupted update leaves a lock and pending operations, and the next update is refused. With
    --recover it removes the lock of a process of this machine that has ended (of no other), and
    repeats the pending operations; names are fixed, so that nothing is created twice.

    Objects that Flux or Argo CD manages are refused: two managers would overwrite each other. With
    --take-over, after you have suspended that engine, Holdfast manages them.

    \b
    Examples:
      holdfast up -s dev
      holdfast up -s dev --recover
      holdfast up -s prod --reason "raise the limits for the sale" -o json
      holdfast up -s dev --allow-dirty "testing a fix"

    \b
    Exit codes: 0 done   1 the update failed   2 bad input, or not committed
      4 pods are refused   5 policy   6 no such stack   8 cancelled   9 timeout
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
        plan = _agreed_plan(update, is_agreed=flags["is_agreed"])
        record = update.compared(GuardedUpdate(update, context).apply(plan))
    print_result(update_result(record, output), output)
    return ExitCode.OK


def _agreed_plan(update: StackUpdate, *, is_agreed: bool) -> UpdatePlan:
    """The plan, after the question; a recovery may change it, and is then asked about again."""
    plan = update.plan()
    _ask(update, plan, is_agreed=is_agreed)
    if not update.request.recover:
        return plan
    resumed = update.begin(plan)
    if not is_same_change(resumed, plan):
        _ask(update, resumed, is_agreed=is_agreed)
    return resumed


def _ask(update: StackUpdate, plan: UpdatePlan, *, is_agreed: bool) -> None:
    if is_agreed or not has_changes(plan):
        return
    name = update.context.name
    lines = (f"stack {name}: {summary_lines(plan)[0]}", *summary_lines(plan)[1:])
    if confirm_on_terminal(f"Update stack {name}?", lines):
        update.ensure_files_unchanged()
