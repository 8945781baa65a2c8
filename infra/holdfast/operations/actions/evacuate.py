"""An agent moved off nodes that are cordoned, not ready or gone."""

import time
from dataclasses import dataclass

from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.running import node_trouble
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.actions.pods import HEALTHY_SECONDS, AgentPods, name_of, node_of
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext


@dataclass(frozen=True)
class EvacuationPlan:
    """Pods that leave their nodes.

    Attributes:
        agent: Name of the agent.
        namespace: Its namespace.
        pods: Live pods, each with what is wrong with its node.
        is_forced: They are deleted at once, whatever nodes say and budgets allow.
    """

    agent: str
    namespace: str
    pods: tuple[tuple[KubeObject, str], ...]
    is_forced: bool

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """One a pod."""
        verb = "delete" if self.is_forced else "evict"
        return tuple(
            ActionStep(verb, reference_of(pod), f"node {node_of(pod)}: {trouble}")
            for pod, trouble in self.pods
        )

    @property
    def summary(self) -> str:
        """How many pods leave which nodes."""
        nodes = sorted({node_of(pod) for pod, _ in self.pods})
        return f"{len(self.pods)} pods off {', '.join(nodes)}"


def plan_evacuation(
    context: StackContext, agent: DeclaredAgent, node: str = "", *, is_forced: bool
) -> EvacuationPlan:
    """Which pods of an agent stand on nodes that cannot keep them; nothing is written.

    Args:
        context: The stack.
        agent: The agent.
        node: Only from this node; empty for every node that is cordoned, not ready or gone.
        is_forced: Whether the pods are to be deleted instead of evicted.

    Raises:
        InputError: the node takes pods, or the agent has none on such nodes.
        ClusterError: the cluster cannot be asked.
    """
    pods = AgentPods.of(context, agent.name, agent.namespace)
    nodes = {name_of(each): each for each in list_whole(pods.cluster.client, "v1", "nodes")}
    if node and not node_trouble(nodes.get(node)):
        raise InputError(
            f"node {node} takes pods: they might come back to it",
            remedy=f"run `kubectl cordon {node}` first",
        )
    troubled = tuple(
        (pod, trouble)
        for pod in pods.find(node)
        if node_of(pod) and (trouble := node_trouble(nodes.get(node_of(pod))))
    )
    if not troubled:
        where = f"on node {node}" if node else "on a node that is cordoned, not ready or gone"
        raise InputError(f"{agent.name} has no pods {where}", remedy="see `kubectl get nodes`")
    return EvacuationPlan(agent.name, agent.namespace, troubled, is_forced)


def apply_evacuation(context: StackContext, plan: EvacuationPlan, progress: Progress) -> None:
    """Evict all pods, then wait until they are gone and the agent is healthy.

    One after another would wait for an agent that cannot be healthy before the last of them has
    left a lost node.

    Raises:
        EngineError: an update of the stack is under way.
        HoldfastError: they do not go, or the agent does not become healthy in time.
    """
    pods = AgentPods.of(context, plan.agent, plan.namespace)
    leaving = [pod for pod, _ in plan.pods]
    with context.locked():
        deadline = time.monotonic() + HEALTHY_SECONDS
        for pod in leaving:
            if plan.is_forced:
                pods.delete(pod)
            else:
                pods.evict(pod, deadline)
        pods.wait_until_replaced(leaving, lambda pod: progress.step(f"moved: Pod {name_of(pod)}"))
