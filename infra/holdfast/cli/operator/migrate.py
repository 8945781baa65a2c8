"""`holdfast operator migrate`: objects from the engine's hands into the operator's. Wiring."""

import click
import msgspec

from holdfast.adapters.engine.state.handing_over import hand_over
from holdfast.cli.options.confirm import agree
from holdfast.errors import ClusterError, ExitCode, InputError
from holdfast.manifest.agent.agent import AGENT_KIND, API_VERSION
from holdfast.operations.deploy.facts import day_two_record, journal_of
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight.state_ownership import RecordedAgents
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.action_text import ActionStep, action_json, steps_text

_ACTION = "migrate"


@click.command()
@click.option("-s", "--stack", required=True, help="Stack whose agents the operator takes over.")
@click.option("--reason", default="mode expand", show_default=True, help="Why, for the history.")
@click.option("--yes", is_flag=True, help="Agree to what is shown.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(stack: str, reason: str, output: str, *, yes: bool, dry_run: bool) -> ExitCode:
    """Hand the objects of a stack's agents from Pulumi to the operator; nothing is deleted.

    For a stack whose holdfast:agentResources has become {mode: expand}. The objects are taken out
    of the engine's record, claims with data included, and stay in the cluster as they are; the next
    update then registers the agents alone, and the operator goes on with the same objects: same
    names, same owner, same uids. Without this step that update would delete them, so `holdfast up`
    refuses it.

    The way back needs no command: with {mode: observe} the next update takes the objects over as
    they are.

    \b
    Examples:
      holdfast operator migrate -s prod --dry-run
      holdfast operator migrate -s prod && holdfast up -s prod
    """
    root = find_project_root()
    state = StackContext(root, stack)
    recorded = RecordedAgents.of(root, stack)
    _refuse_unready(state, recorded)
    steps = [
        ActionStep("hand over", ref, f"agent {agent}")
        for agent, refs in sorted(recorded.objects.items())
        for ref in refs
    ]
    as_json = output == "json"

    def say(outcome: str) -> None:
        if as_json:
            click.echo(action_json(_ACTION, "", stack, outcome, steps, reason=reason), nl=False)

    if not recorded.urns:
        click.echo(f"the engine holds no objects of agents of stack {stack}", err=True)
        say("nothing to do")
        return ExitCode.OK
    click.echo(steps_text(steps), nl=False, err=True)
    if dry_run:
        say("planned")
        return ExitCode.OK
    agree(f"Hand {len(steps)} objects over to the operator?", is_agreed=yes)
    hand_over(StackContext(root, stack).engine(), recorded.urns.values())
    record = msgspec.structs.replace(
        day_two_record(_ACTION, stack, reason),
        agents=tuple(sorted(recorded.urns)),
        detail=f"{len(steps)} objects handed over to the operator",
    )
    journal_of(root, stack).add(record)
    click.echo(f"handed over: {len(steps)} objects; now run `holdfast up -s {stack}`", err=True)
    say("done")
    return ExitCode.OK


def _refuse_unready(state: StackContext, recorded: RecordedAgents) -> None:
    """Refuse while nobody would hold the objects afterwards."""
    mode = state.fleet.environment.agent_resources.mode
    if mode != "expand":
        raise InputError(
            f"stack {state.name} has holdfast:agentResources {{mode: {mode}}}",
            remedy="set {mode: expand} in its stack file first",
        )
    declared = {agent.name for agent in state.fleet.agents}
    orphans = sorted(recorded.urns.keys() - declared)
    if orphans:
        raise InputError(
            f"{', '.join(orphans)}: deployed, and declared no more: nobody would delete the rest",
            remedy="go back to {mode: observe}, run `holdfast up`, then change the mode",
        )
    _refuse_unserved(state)


def _refuse_unserved(state: StackContext) -> None:
    from holdfast.adapters.cluster.client import ApiClient  # noqa: PLC0415  (loads the client)
    from holdfast.adapters.cluster.kinds import served_kinds  # noqa: PLC0415  (as above)
    from holdfast.adapters.cluster.kubeconfig import connection_of  # noqa: PLC0415  (as above)

    client = ApiClient(connection_of(state.kubeconfig, state.kube_context))
    wanted = (API_VERSION, AGENT_KIND)
    if wanted not in served_kinds(client, [wanted]):
        raise ClusterError(
            f"the cluster does not serve {API_VERSION} {AGENT_KIND}",
            remedy="run 'holdfast operator install'",
        )
