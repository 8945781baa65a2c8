"""Objects of an agent deleted and created again as declared; what holds data stays."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.cluster.writing import Writer, apply_object, delete_object
from holdfast.drift.plan.next_update import NEVER_REPLACED
from holdfast.errors import ClusterError, InputError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.actions.pods import HEALTHY_SECONDS, LOOK_SECONDS, AgentPods, uid_of
from holdfast.operations.progress import Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext
from holdfast.render.plan.metadata import RenderedObject, revision_of

_RUNS_PODS: Final = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "Rollout", "Sandbox", "CronJob"}
)
_LEFT_ALONE: Final = NEVER_REPLACED | {"Job"}
"""A Job is a run: created again it would run again."""


@dataclass(frozen=True)
class RecreatePlan:
    """What is deleted and created.

    Attributes:
        agent: Name of the agent.
        namespace: Its namespace.
        declared: Objects to create, with their namespaces.
        live: Those of them that exist, as they are.
    """

    agent: str
    namespace: str
    declared: tuple[KubeObject, ...]
    live: tuple[KubeObject, ...]

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """Deletions first, then creations."""
        return (
            *(ActionStep("delete", reference_of(one)) for one in self.live),
            *(ActionStep("create", reference_of(one)) for one in self.declared),
        )

    @property
    def summary(self) -> str:
        """How many objects are recreated."""
        return f"{len(self.declared)} objects recreated"


def plan_recreate(context: StackContext, agent: DeclaredAgent, *, is_whole: bool) -> RecreatePlan:
    """What is recreated: what runs the agent's pods, or everything that holds no data.

    Raises:
        InputError: nothing of that kind is declared, or what runs is not what the files declare:
            this would be an update.
        ClusterError: the cluster cannot be asked, or does not serve a kind of the agent's.
    """
    own = [item for item in context.rendered if item.agent == agent.name and _may_go(item)]
    chosen = [item for item in own if is_whole or item.manifest["kind"] in _RUNS_PODS]
    if not chosen:
        raise InputError(f"{agent.name} declares nothing that can be recreated", remedy="add --all")
    cluster = AgentPods.of(context, agent.name, agent.namespace).cluster
    declared = tuple(cluster.placed([item.manifest for item in chosen]))
    live = []
    for one in declared:
        found = cluster.live(reference_of(one))
        if found is not None and revision_of(found) != revision_of(one):
            raise InputError(
                f"{reference_of(one)} runs another revision than the files here declare",
                remedy="check out the running commit (`holdfast status -s "
                f"{context.name}`), or run `holdfast up` first",
            )
        if found is not None:
            live.append(found)
    return RecreatePlan(agent.name, agent.namespace, declared, tuple(live))


def apply_recreate(context: StackContext, plan: RecreatePlan, progress: Progress) -> None:
    """Delete, wait until objects and pods are gone, create, wait until the agent is healthy.

    Raises:
        EngineError: an update of the stack is under way.
        ClusterError: the server refused, or something does not go.
    """
    pods = AgentPods.of(context, plan.agent, plan.namespace)
    with context.locked():
        before = pods.uids()
        for one in plan.live:
            entry = pods.cluster.entry_of(reference_of(one))
            delete_object(pods.cluster.client, entry, one, is_orphaning=False, is_trial=False)
        deadline = time.monotonic() + HEALTHY_SECONDS
        _wait_until_gone(pods.cluster, plan.live, deadline)
        if any(one["kind"] in _RUNS_PODS for one in plan.declared):
            # A pod that still holds a volume must not meet its successor.
            while before & pods.uids():
                _pause(deadline, f"pods of {plan.agent} do not terminate")
        for one in plan.declared:
            ref = reference_of(one)
            entry = pods.cluster.entry_of(ref)
            apply_object(pods.cluster.client, entry, ref, one, Writer(FIELD_MANAGER))
            progress.step(f"created: {ref}")
        pods.wait_until_healthy(deadline)


def _wait_until_gone(cluster: ClusterSource, gone: Sequence[KubeObject], deadline: float) -> None:
    for one in gone:
        while (now := cluster.live(reference_of(one))) is not None and uid_of(now) == uid_of(one):
            _pause(deadline, f"{reference_of(one)} was deleted but still exists")


def _pause(deadline: float, problem: str) -> None:
    if time.monotonic() > deadline:
        raise ClusterError(
            problem,
            remedy="check what its finalizers wait for; `holdfast drift revert` recreates "
            "deleted objects",
        )
    time.sleep(LOOK_SECONDS / 4)


def _may_go(item: RenderedObject) -> bool:
    return (
        item.manifest["kind"] not in _LEFT_ALONE and not item.is_protected and not item.is_retained
    )
