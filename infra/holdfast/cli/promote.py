"""`holdfast promote`: brings the commit of one stack to another, past its gates."""

from pathlib import Path

import click

from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.stack import STACK
from holdfast.cli.options.updates import TIMEOUT, print_update
from holdfast.errors import ExitCode
from holdfast.operations.deploy.promotion import PromotionRequest, planned_promotion
from holdfast.operations.describe.stack_diff import commit_change
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.tracing import traced_update
from holdfast.report.text.stack_diff_text import commit_change_text


@click.command()
@click.option("--from", "origin", type=STACK, required=True, help="Where the commit runs.")
@click.option("--to", "target", type=STACK, required=True, help="Where it is to run.")
@click.option(
    "--approval",
    "approval_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of lines Commit:, Stack: and Approved-By:, written by somebody else.",
)
@click.option(
    "--recover", is_flag=True, help="Recover from an interrupted update of --to before deploying."
)
@click.option("--reason", default="", help="Why, for the history.")
@click.option("--yes", is_flag=True, help="Confirm without asking.")
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
    """Bring the commit that runs on one stack to another: the same commit, past five gates.

    \b
      source    the last update of --from succeeded, from a clean commit; none was killed
      policy    the pack refuses nothing of a preview on --to
      health    every agent of --from is ready
      drift     what runs on --from is what the commit declares
      approval  if the stack file of --to says updates.requireApproval, or a file is given: it
                names this commit and stack, and not the commit's author as its approver

    Shows the commits that are new to --to and what would change there, and asks. The first gate
    that fails ends it; nothing is written, and the history of --to says which one it was. If an
    update of --to was interrupted, promotion is refused unless --recover is given.

    \b
    Examples:
      holdfast promote --from staging --to prod
      holdfast promote --from staging --to prod --approval approvals/prod.txt --yes

    \b
    Exit codes: 0 done and proved equal   1 a gate or the update failed   2 bad input   5 policy
      6 no such stack   7 drift on --from   8 cancelled   9 timeout
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
    print_update(record, output)
    return ExitCode.OK
