"""`holdfast promote`: brings the commit of one stack to another, past its gates."""

from pathlib import Path

import click

from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.updates import TIMEOUT, print_result
from holdfast.cli.options.words import STACK
from holdfast.errors import ExitCode
from holdfast.operations.deploy.promotion import PromotionRequest, planned_promotion
from holdfast.operations.describe.stack_diff import commit_change
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.tracing import traced_update
from holdfast.report.text.history_text import update_result
from holdfast.report.text.stack_diff_text import commit_change_text


@click.command()
@click.option("--from", "origin", type=STACK, required=True, help="Stack that runs the commit.")
@click.option("--to", "target", type=STACK, required=True, help="Stack to deploy it to.")
@click.option(
    "--approval",
    "approval_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of lines Commit:, Stack: and Approved-By:, written by a second person.",
)
@click.option(
    "--recover", is_flag=True, help="Recover from an interrupted update of --to before deploying."
)
@click.option("--reason", default="", help="Why, for the history.")
@click.option("-y", "--yes", is_flag=True, help="Confirm without asking.")
@TIMEOUT
@OUTPUT
def command(
    origin: str,
    target: str,
    approval_file: Path | None,
    reason: str,
    output: str,
    timeout_seconds: float,
    **flags: bool,
) -> ExitCode:
    """Deploy the commit of one stack to another, past five gates.

    \b
    source    the last update of --from succeeded, from a clean commit
    policy    the pack accepts a preview of --to
    health    every agent of --from is ready
    drift     --from has no drift from the commit
    approval  if updates.requireApproval is set for --to, or a file is given: it
              names the commit and stack, and an approver who is not the author

    Shows the commits that are new to --to and what would change, and asks. The first gate that
    fails ends it: nothing is written, and the history of --to names the gate. If an update of --to
    was interrupted, promotion is refused unless --recover is given.

    \b
    Examples:
      holdfast promote --from staging --to prod
      holdfast promote --from staging --to prod --approval approvals/prod.txt \\
        --yes

    \b
    Exit codes: 0 done and verified   1 a gate or the update failed   2 bad input
      4 pods are refused   5 policy   6 no such stack   7 drift on --from
      8 cancelled   9 timeout
    """
    root = find_project_root()
    wanted = PromotionRequest(
        origin, target, approval_file, reason, flags["recover"], timeout_seconds
    )
    with (
        traced_update("promote", target, reason, TERMINAL) as tracer,
        planned_promotion(root, wanted, TERMINAL, tracer) as promotion,
    ):
        commit = promotion.commit
        click.echo(commit_change_text(commit_change(root, target, commit)), nl=False, err=True)
        confirm(f"Bring {target} to {commit.short}, as on {origin}?", is_confirmed=flags["yes"])
        record = promotion.apply()
    print_result(update_result(record, output), output)
    return ExitCode.OK
