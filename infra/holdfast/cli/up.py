"""`holdfast up`: a stack brought to a clean commit: judged, told, recorded. Wiring only."""

import click

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.errors import ExitCode
from holdfast.operations.deploy.guarded import careful_update
from holdfast.operations.deploy.request import Order, tell_terminal
from holdfast.operations.deploy.traced import traced_order
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.update_text import changes_in_words


@click.command()
@click.option("-s", "--stack", required=True, help="Stack to update.")
@click.option(
    "--allow-dirty",
    "dirty_reason",
    metavar="REASON",
    default="",
    help="Use files that are not committed; the history says so, and why.",
)
@click.option(
    "--recover", "recovers", is_flag=True, help="Go on from where a killed run has left the stack."
)
@click.option(
    "--take-over",
    "takes_over",
    is_flag=True,
    help="Deliver from now on what Flux or Argo CD has delivered; suspend them first.",
)
@click.option("--reason", default="", help="Why it is done, for the history.")
@click.option(
    "--continue-on-error",
    "continues_on_error",
    is_flag=True,
    help="Go on with what does not depend on what failed; the end is a failure all the same.",
)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(
    stack: str,
    dirty_reason: str,
    reason: str,
    output: str,
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
    none is made twice.

    What Flux or Argo CD delivers is refused: the two would take it from each other. With
    --take-over, once that engine is suspended, Holdfast delivers the same objects.

    \b
    Examples:
      holdfast up -s dev
      holdfast up -s dev --recover
      holdfast up -s prod --reason "raise the limits for the sale" -o json
      holdfast up -s dev --allow-dirty "trying a fix by hand"
      holdfast up -s prod --continue-on-error

    \b
    Exit codes: 0 done   1 the update failed   2 bad input, or not committed   5 policy
      6 no such stack   8 cancelled
    """
    order = Order(
        find_project_root(),
        stack,
        reason=reason,
        dirty_reason=dirty_reason,
        recovers=flags["recovers"],
        takes_over=flags["takes_over"],
        continues_on_error=flags["continues_on_error"],
    )
    with traced_order(order) as traced:
        show(careful_update(traced, order.root), output)
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
