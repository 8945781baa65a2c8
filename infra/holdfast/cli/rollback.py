"""`holdfast rollback`: a stack brought back to an earlier commit, and proved equal. Wiring only."""

import click

from holdfast.adapters.git.source import commit_named
from holdfast.cli.options.confirm import agree
from holdfast.cli.options.stack import STACK
from holdfast.cli.up import show
from holdfast.errors import ExitCode
from holdfast.operations.deploy.commit import bring_to
from holdfast.operations.deploy.request import Order
from holdfast.operations.deploy.traced import traced_order
from holdfast.operations.stack.project import find_project_root


@click.command()
@click.argument("commit")
@click.option("-s", "--stack", type=STACK, required=True, help="Stack to bring back.")
@click.option("--reason", required=True, help="Why, for the history.")
@click.option("--yes", is_flag=True, help="Agree to what is shown.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(commit: str, stack: str, reason: str, output: str, *, yes: bool) -> ExitCode:
    """Bring a stack back to an earlier COMMIT, prove that it is equal, and record why.

    The commit is checked out beside the working tree, which is not touched, and its own code
    renders it; today's policy pack judges it. What would change is shown first. After the update a
    drift scan compares every object with what the commit declares. What a killed run has left is
    taken up, as by `holdfast up --recover`.

    \b
    Examples:
      holdfast history prod
      holdfast rollback -s prod 3f2a91c --reason "answers got slower"
      holdfast rollback -s prod v1.4.0 --reason "drill" --yes

    \b
    Exit codes: 0 equal   1 the update failed, or not everything could be compared
      2 bad input, no such commit   5 policy   6 no such stack   7 drift is left   8 cancelled
    """
    root = find_project_root()
    wanted = commit_named(root, commit)
    again = f"holdfast rollback -s {stack} {commit} --reason ..."
    order = Order(root, stack, action="rollback", reason=reason, recovers=True, again=again)
    question = f"Bring {stack} to {wanted.short} ({wanted.subject})?"
    with traced_order(order) as traced:
        record = bring_to(traced, wanted, lambda _: agree(question, is_agreed=yes))
    show(record, output)
    return ExitCode.OK
