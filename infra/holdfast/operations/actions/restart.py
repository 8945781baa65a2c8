"""The pods of an agent replaced by new ones, as `kubectl rollout restart` does.

A Deployment, StatefulSet, DaemonSet or Rollout has a restart field, and its controller replaces the
pods by its own rules: maxUnavailable, maxSurge and partitions hold, and the scan reports the field
as a remark. A Sandbox has no such field, and the pods of one node are no whole rollout: those are
evicted one after another, each time waiting until the agent is healthy.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.writing import Writer, merge_object
from holdfast.errors import ClusterError, InputError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.actions.pods import HEALTHY_SECONDS, AgentPods, name_of, owner_kinds
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext

RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
_ROLLED: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Rollout"})
_WRITER: Final = Writer(f"{FIELD_MANAGER}-restart")
"""A name of its own: what it writes is not part of what updates declare."""


@dataclass(frozen=True)
class RestartPlan:
    """What is restarted.

    Attributes:
        agent: Name of the agent.
        namespace: Its namespace.
        workloads: Live workloads whose controllers replace their pods.
        pods: Live pods that are evicted.
        node: The node that the pods are on; empty for all.
    """

    agent: str
    namespace: str
    workloads: tuple[KubeObject, ...]
    pods: tuple[KubeObject, ...]
    node: str = ""

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """Rollouts first, then evictions."""
        return (
            *(ActionStep("restart", reference_of(one)) for one in self.workloads),
            *(ActionStep("evict", reference_of(one)) for one in self.pods),
        )

    @property
    def summary(self) -> str:
        """What is restarted, in a few words."""
        names = [str(reference_of(one)) for one in self.workloads]
        if self.pods:
            names.append(f"{len(self.pods)} pods{f' of node {self.node}' if self.node else ''}")
        return ", ".join(names)


def plan_restart(context: StackContext, agent: DeclaredAgent, node: str = "") -> RestartPlan:
    """What a restart of an agent replaces; nothing is written.

    Args:
        context: The stack.
        agent: The agent.
        node: Only pods on this node; empty for all.

    Raises:
        InputError: it has no pods there.
        ClusterError: the cluster cannot be asked, or does not serve a kind of the agent's.
    """
    pods = AgentPods.of(context, agent.name, agent.namespace)
    found = pods.find(node)
    if not found:
        where = f" on node {node}" if node else ""
        raise InputError(
            f"{agent.name} has no pods{where}",
            remedy=f"see `holdfast agent describe {agent.name} -s {context.name}`",
        )
    if node:
        return RestartPlan(agent.name, agent.namespace, (), tuple(found), node)
    return RestartPlan(
        agent.name,
        agent.namespace,
        tuple(_live_workloads(context, pods)),
        tuple(pod for pod in found if "Sandbox" in owner_kinds(pod)),
    )


def apply_restart(context: StackContext, plan: RestartPlan, progress: Progress) -> None:
    """Restart each workload and evict each pod, waiting for the agent in between.

    Raises:
        EngineError: an update of the stack is under way.
        HoldfastError: the agent does not become healthy in time, or a budget lets no pod go.
    """
    pods = AgentPods.of(context, plan.agent, plan.namespace)

    def replaced(pod: KubeObject) -> None:
        progress.step(f"replaced: Pod {name_of(pod)}")

    with context.locked():
        for workload in plan.workloads:
            before = [pod for pod in pods.find() if _is_selected(pod, workload)]
            _restart(pods, workload)
            progress.step(f"restarted: {reference_of(workload)}")
            pods.wait_until_replaced(before, replaced)
        for pod in plan.pods:
            pods.evict(pod, time.monotonic() + HEALTHY_SECONDS)
            pods.wait_until_replaced([pod], replaced)


def _live_workloads(context: StackContext, pods: AgentPods) -> Iterable[KubeObject]:
    declared = [
        item.manifest
        for item in context.rendered
        if item.agent == pods.agent and item.manifest["kind"] in _ROLLED
    ]
    for one in pods.cluster.placed(declared):
        ref = reference_of(one)
        live = pods.cluster.live(ref)
        if live is None:
            raise ClusterError(
                f"{ref} does not exist",
                remedy=f"run `holdfast up -s {context.name}` or `holdfast drift revert`",
            )
        yield live


def _restart(pods: AgentPods, workload: KubeObject) -> None:
    ref = reference_of(workload)
    now = utc_now()
    change: dict[str, Any] = {"template": {"metadata": {"annotations": {RESTARTED_AT: now}}}}
    if ref.kind == "Rollout":
        change = {"restartAt": now}
    body = {"metadata": {"uid": workload["metadata"]["uid"]}, "spec": change}
    merge_object(pods.cluster.client, pods.cluster.entry_of(ref), ref, body, _WRITER)


def _is_selected(pod: KubeObject, workload: KubeObject) -> bool:
    wanted = mapping_at(workload, "spec", "selector", "matchLabels")
    return wanted.items() <= mapping_at(pod, "metadata", "labels").items()
