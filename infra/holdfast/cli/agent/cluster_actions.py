"""`holdfast agent restart|reschedule|recreate|backup`: done in the cluster at once. Wiring."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode, InputError
from holdfast.kube.nodes import node_trouble
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.operations.stack.context import StackContext
from holdfast.report.text.action_text import ActionStep


@click.command()
@takes_action("restart")
@click.option("--node", default="", help="Only pods on this node.")
def restart(asked: AgentAction, node: str) -> ExitCode:
    """Make the pods of an agent anew, one after another, each time waiting until it is healthy.

    By eviction: disruption budgets hold. With --node those on one node alone.

    \b
    Example: holdfast agent restart support-rag -s prod --reason "stuck connections"
    """
    from holdfast.operations.actions.pods import AgentPods  # noqa: PLC0415  (--help needs no cluster)

    pods = AgentPods.of(asked.root, asked.stack, asked.agent.name)
    found = pods.find(asked.agent.namespace, node)
    if not found:
        where = f" on node {node}" if node else ""
        remedy = f"see `holdfast explain {asked.name} -s {asked.stack}`"
        raise InputError(f"{asked.name} has no pods{where}", remedy=remedy)
    what = f"{len(found)} pods{f' of node {node}' if node else ''}"

    def do() -> None:
        with StackContext(asked.root, asked.stack).locked():
            pods.replace(found)

    return asked.carry_out(_evictions(found, ""), what, do)


@click.command()
@takes_action("reschedule")
@click.option("--node", default="", help="Only from this node; default from all that are lost.")
@click.option(
    "--force",
    is_flag=True,
    help="The nodes are known to be off: delete their pods at once, whatever budgets say.",
)
def reschedule(asked: AgentAction, node: str, *, force: bool) -> ExitCode:
    """Move an agent off nodes that are cordoned, not ready or gone.

    Its pods there are evicted, and the scheduler places new ones elsewhere; it is done when the
    agent is healthy. A node that takes pods is refused: they might come back to it. Of a node that
    does not answer nobody knows whether a pod still writes to its volume: without --force its pods
    are told to go, and stay until the node says so.

    \b
    Examples:
      kubectl cordon worker-3
      holdfast agent reschedule support-rag -s prod --node worker-3 --reason "maintenance"
      holdfast agent reschedule support-rag -s prod --force --reason "worker-4 burnt down"
    """
    from holdfast.operations.actions.pods import AgentPods  # noqa: PLC0415  (--help needs no cluster)

    pods = AgentPods.of(asked.root, asked.stack, asked.agent.name)
    nodes = pods.nodes()
    if node and not node_trouble(nodes.get(node)):
        raise InputError(
            f"node {node} takes pods: they might come back to it",
            remedy=f"run `kubectl cordon {node}` first",
        )
    troubled = [
        (pod, trouble)
        for pod in pods.find(asked.agent.namespace, node)
        if (where := mapping_at(pod, "spec").get("nodeName"))
        and (trouble := node_trouble(nodes.get(str(where))))
    ]
    if not troubled:
        where = f"on node {node}" if node else "on a node that is cordoned, not ready or gone"
        raise InputError(f"{asked.name} has no pods {where}", remedy="see `kubectl get nodes`")
    steps = [
        ActionStep(
            "delete" if force else "evict",
            reference_of({"apiVersion": "v1", "kind": "Pod", **pod}),
            f"node {mapping_at(pod, 'spec').get('nodeName')}: {trouble}",
        )
        for pod, trouble in troubled
    ]
    left = sorted({str(mapping_at(pod, "spec").get("nodeName")) for pod, _ in troubled})

    def do() -> None:
        with StackContext(asked.root, asked.stack).locked():
            pods.move([pod for pod, _ in troubled], is_forced=force)

    return asked.carry_out(steps, f"{len(troubled)} pods off {', '.join(left)}", do)


@click.command()
@takes_action("recreate")
@click.option("--all", "whole", is_flag=True, help="Everything of it that holds no data.")
def recreate(asked: AgentAction, *, whole: bool) -> ExitCode:
    """Delete what runs an agent, and make it again as it is declared.

    For what a restart does not mend. It does not run meanwhile: its pods are gone before new ones
    start. Claims, volumes and runs of Jobs are never deleted. What runs must be what the files here
    declare: this is no update.

    \b
    Example: holdfast agent recreate support-rag -s prod --reason "its ReplicaSets are in a knot"
    """
    from holdfast.operations.actions.pods import AgentPods  # noqa: PLC0415  (--help needs no cluster)
    from holdfast.operations.actions.recreate import Recreation  # noqa: PLC0415  (as above)

    pods = AgentPods.of(asked.root, asked.stack, asked.agent.name)
    recreation = Recreation.of(pods, is_whole=whole)
    live = recreation.live()
    gone = [ActionStep("delete", reference_of(one)) for one in live if one is not None]
    made = [ActionStep("create", reference_of(one)) for one in recreation.declared]

    def do() -> None:
        with StackContext(asked.root, asked.stack).locked():
            recreation.do(live)

    return asked.carry_out([*gone, *made], f"{len(made)} objects made again", do)


@click.command()
@takes_action("backup")
def backup(asked: AgentAction) -> ExitCode:
    """Back an agent's volumes up now: a Job made of its backup schedule, waited for.

    \b
    Example: holdfast agent backup support-rag -s prod --reason "before the migration"
    """
    from holdfast.operations.actions.backup import back_up_now  # noqa: PLC0415  (--help needs no cluster)
    from holdfast.operations.actions.pods import AgentPods  # noqa: PLC0415  (as above)

    agent = asked.agent
    stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    job = ObjectRef(agent.namespace, "Job", f"{agent.name}-backup-{stamp}", "batch/v1")

    def do() -> None:
        back_up_now(AgentPods.of(asked.root, asked.stack, agent.name), agent.namespace, stamp)

    return asked.carry_out([ActionStep("create", job)], f"Job {job.name}", do)


def _evictions(pods: Sequence[KubeObject], why: str) -> list[ActionStep]:
    return [
        ActionStep("evict", reference_of({"apiVersion": "v1", "kind": "Pod", **pod}), why)
        for pod in pods
    ]
