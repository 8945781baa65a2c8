"""`holdfast promote`: the commit of one stack brought to another, past its gates. Wiring only."""

from pathlib import Path

import click

from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import commit_named
from holdfast.cli.options.confirm import agree
from holdfast.cli.options.stack import STACK
from holdfast.cli.up import show
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.deploy.commit import bring_to
from holdfast.operations.deploy.guarded import CarefulUpdate
from holdfast.operations.deploy.promotion import (
    Gate,
    approval,
    check,
    drift_free,
    healthy,
    promotable_update,
)
from holdfast.operations.deploy.request import Order
from holdfast.operations.deploy.traced import traced_order
from holdfast.operations.deploy.update import Updating
from holdfast.operations.describe.stack_diff import commit_change
from holdfast.operations.stack.commit_project import CommitProject
from holdfast.operations.stack.project import find_project_root
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
    "--recover", "recovers", is_flag=True, help="Go on from where a killed run has left --to."
)
@click.option("--reason", default="", help="Why, for the history.")
@click.option("--yes", is_flag=True, help="Agree to what is shown.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(
    origin: str,
    target: str,
    approval_file: Path | None,
    reason: str,
    output: str,
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
    that fails ends it; nothing is written, and the history of --to says which one it was. What a
    killed run has left of --to is refused; with --recover it is taken up as by `holdfast up`.

    \b
    Examples:
      holdfast promote --from staging --to prod
      holdfast promote --from staging --to prod --approval approvals/prod.txt --yes

    \b
    Exit codes: 0 done and proved equal   1 a gate or the update failed   2 bad input   5 policy
      6 no such stack   7 drift on --from   8 cancelled
    """
    if origin == target:
        raise InputError("--from and --to are the same stack", remedy="name two")
    root = find_project_root()
    settings = read_stack_file(root, target).environment
    needs_approval = settings is not None and settings.updates.require_approval
    update = promotable_update(root, origin)
    commit = commit_named(root, update.commit)

    def before(project: CommitProject) -> None:
        gates = [
            Gate("health", lambda: healthy(project, origin)),
            Gate("drift", lambda: drift_free(project, origin)),
        ]
        if needs_approval or approval_file is not None:
            gates.append(Gate("approval", lambda: approval(approval_file, commit, target)))
        check(gates)
        click.echo(commit_change_text(commit_change(root, target, commit)), nl=False, err=True)
        agree(f"Bring {target} to {commit.short}, as on {origin}?", is_agreed=flags["yes"])

    def do(updating: Updating, policy: str, planned: RunResult) -> UpdateRecord:
        return CarefulUpdate(updating, root).do(policy, planned)

    order = Order(
        root,
        target,
        action="promote",
        reason=reason or f"promoted from {origin}",
        recovers=flags["recovers"],
        again=f"holdfast promote --from {origin} --to {target} --recover",
    )
    with traced_order(order) as traced:
        show(bring_to(traced, commit, before, do), output)
    return ExitCode.OK
