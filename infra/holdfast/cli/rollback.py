"""`holdfast rollback`: brings a stack back to an earlier commit, and verifies that it is equal."""

import click

from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.updates import TIMEOUT, print_result
from holdfast.errors import ExitCode
from holdfast.operations.deploy.commit import planned_rollback
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.history_text import update_result


@click.command()
@click.argument("commit")
@stack_option("Stack to roll back.")
@click.option("--reason", required=True, help="Why, for the history.")
@click.option("-y", "--yes", is_flag=True, help="Confirm without asking.")
@TIMEOUT
@OUTPUT
def command(
    commit: str, stack: str, reason: str, output: str, *, timeout_seconds: float, yes: bool
) -> ExitCode:
    """Deploy an earlier COMMIT, verify it, and record why.

    The commit is checked out in a temporary folder and rendered by its own code; today's policy
    pack evaluates it. The changes are shown first, and nothing is written before you confirm. After
    the update a drift scan compares every object with the commit. An interrupted update is resumed,
    as by `holdfast up --recover`.

    \b
    Examples:
      holdfast history prod
      holdfast rollback -s prod 3f2a91c --reason "answers got slower"
      holdfast rollback -s prod v1.4.0 --reason "drill" --yes

    \b
    Exit codes: 0 verified   1 the update failed, or not everything was compared
      2 bad input, no such commit   4 pods are refused   5 policy
      6 no such stack   7 drift remains   8 cancelled   9 timeout
    """
    context = StackContext(find_project_root(), stack, timeout_seconds)
    with planned_rollback(context, commit, reason, TERMINAL) as deployment:
        wanted = deployment.commit
        confirm(f"Bring {stack} to {wanted.short} ({wanted.subject})?", is_confirmed=yes)
        record = deployment.apply()
    print_result(update_result(record, output), output)
    return ExitCode.OK
