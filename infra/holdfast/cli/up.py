"""`holdfast up`: a stack brought to a clean commit: judged, told, recorded. Wiring only."""

import click

from holdfast.cli.careful_update import careful_update
from holdfast.cli.project import find_project_root
from holdfast.cli.updating import Order, tell_terminal
from holdfast.engine.update_record import UpdateRecord
from holdfast.errors import ExitCode
from holdfast.report.update_text import changes_in_words, updates_json


@click.command()
@click.option("-s", "--stack", required=True, help="Stack to update.")
@click.option(
    "--allow-dirty",
    "dirty_reason",
    metavar="REASON",
    default="",
    help="Use files that are not committed; the history says so, and why.",
)
@click.option("--reason", default="", help="Why it is done, for the history.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(stack: str, dirty_reason: str, reason: str, output: str) -> ExitCode:
    """Bring a stack's cluster to what the checked out commit declares.

    A thin front of `pulumi up`: checks the manifests, refuses files that are not committed, asks
    the policy pack about a preview, updates, waits until agents are ready, and records commit,
    author, pull request, operator, policy result and outcome: in the stack's history (see
    `holdfast history`), in its outputs `commit` and `dirty`, and in its tags of those names. A
    plain `pulumi up` goes on working, and its commit is recorded, too.

    Who did it is HOLDFAST_OPERATOR, else what GitHub or GitLab says, else user@host; the pull
    request is HOLDFAST_PULL_REQUEST, else what they or the commit's message say.

    \b
    Examples:
      holdfast up -s dev
      holdfast up -s prod --reason "raise the limits for the sale" -o json
      holdfast up -s dev --allow-dirty "trying a fix by hand"

    \b
    Exit codes: 0 done   1 the update failed   2 bad input, or not committed   5 policy
      6 no such stack   8 cancelled
    """
    order = Order(find_project_root(), stack, reason=reason, dirty_reason=dirty_reason)
    show(careful_update(order, order.root), output)
    return ExitCode.OK


def show(record: UpdateRecord, output: str) -> None:
    """Tell what an update came to."""
    if output == "json":
        click.echo(updates_json(record.stack, [record]), nl=False)
        return
    commit = record.commit[:12] or "no commit"
    dirty = f" and files that are not committed ({record.dirty_reason})" if record.is_dirty else ""
    tell_terminal(
        f"{record.stack} is at {commit}{dirty}: {changes_in_words(record.changes)}, "
        f"{record.seconds:g} s"
    )
