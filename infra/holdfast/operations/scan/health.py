"""How the agents of a stack are, as the cluster has them now."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.errors import ClusterError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.running import version_of
from holdfast.kube.workload_status import (
    Health,
    HealthVerdict,
    WorkloadState,
    health_of,
    workload_state,
    worst,
)
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.scan.pod_reader import PodReader
from holdfast.operations.stack.context import StackContext
from holdfast.render.plan.metadata import RenderedObject

_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Rollout", "Job", "CronJob"})
GONE = HealthVerdict(Health.DEGRADED, "it does not exist")


class _NotListedError(ClusterError):
    """The objects of one kind in one place cannot be seen; others can."""


@dataclass(frozen=True)
class AgentHealth:
    """How one agent runs.

    Attributes:
        health: As bad as the worst of its workloads.
        version: As they say; empty when none of them is there.
        workloads: How much of each of them is there.
    """

    health: HealthVerdict
    version: str = ""
    workloads: tuple[WorkloadState, ...] = ()


@dataclass(frozen=True)
class HealthReader:
    """Reads the agents of one stack as often as wanted; files and kinds are read the first time.

    Attributes:
        context: The stack, whose fleet is loaded and rendered once.
    """

    context: StackContext

    def health(self) -> dict[str, HealthVerdict]:
        """Agent to how it is; every agent of the stack is in it.

        Raises:
            InvalidFilesError: the manifests are not valid.
            ClusterError: the cluster cannot be asked.
        """
        return {name: live.health for name, live in self.agents().items()}

    def agents(self) -> dict[str, AgentHealth]:
        """Agent to what runs of it; every agent of the stack is in it.

        Raises:
            InvalidFilesError: the manifests are not valid.
            ClusterError: the cluster cannot be asked.
        """
        found = list(self._live_workloads()) if self._declared else []
        pods = PodReader(self._cluster.client) if found else None
        agents: dict[str, AgentHealth] = {}
        for agent in self.context.fleet.workloads:
            own = {ref: live for name, ref, live in found if name == agent.name}
            verdicts = {str(ref): self._verdict(live, pods) for ref, live in own.items()}
            seen = [live for live in own.values() if isinstance(live, dict)]
            versions = [version_of(live) for live in seen]
            states = tuple(workload_state(live) for live in seen)
            agents[agent.name] = AgentHealth(worst(verdicts), next(iter(versions), ""), states)
        return agents

    def _verdict(
        self, live: KubeObject | ClusterError | None, pods: PodReader | None
    ) -> HealthVerdict:
        """How a workload is, and what its pods wait for; what cannot be read adds nothing."""
        verdict = _verdict(live)
        if pods is None or not isinstance(live, dict) or verdict.is_healthy:
            return verdict
        try:
            wait = next(iter(pods.waits(live)), None)
        except ClusterError:
            return verdict
        return replace(verdict, reason=f"{verdict.reason}; {wait}") if wait else verdict

    @cached_property
    def _declared(self) -> list[RenderedObject]:
        return [item for item in self.context.rendered if item.manifest["kind"] in _WORKLOADS]

    @cached_property
    def _cluster(self) -> ClusterSource:
        return ClusterSource.of_stack(self.context)

    def _live_workloads(self) -> Iterator[tuple[str, ObjectRef, KubeObject | ClusterError | None]]:
        """Agent, workload, and what runs of that: None where nothing does, or why it is unseen."""
        placed = self._cluster.placed([item.manifest for item in self._declared])
        refs = [reference_of(one) for one in placed]
        live: dict[Identity, KubeObject] = {}
        unseen: dict[tuple[str, str, str], ClusterError] = {}
        for place in sorted({(ref.api_version, ref.kind, ref.namespace) for ref in refs}):
            try:
                live |= _listed(self._cluster, *place)
            except _NotListedError as error:
                unseen[place] = error
        for item, ref in zip(self._declared, refs, strict=True):
            place = (ref.api_version, ref.kind, ref.namespace)
            yield item.agent, ref, unseen.get(place) or live.get(ref.identity)


def health_of_agents(context: StackContext) -> dict[str, HealthVerdict]:
    """Agent to how it is now; to read it again and again, keep a HealthReader.

    Raises:
        InvalidFilesError: the manifests are not valid.
        ClusterError: the cluster cannot be asked.
    """
    return HealthReader(context).health()


def live_agents(context: StackContext) -> dict[str, AgentHealth]:
    """Agent to what runs of it now.

    Raises:
        InvalidFilesError: the manifests are not valid.
        ClusterError: the cluster cannot be asked.
    """
    return HealthReader(context).agents()


def _verdict(live: KubeObject | ClusterError | None) -> HealthVerdict:
    """How a workload is; what could not be read is neither well nor gone."""
    if isinstance(live, ClusterError):
        return HealthVerdict(Health.UNKNOWN, str(live))
    return GONE if live is None else health_of(live)


def _listed(
    cluster: ClusterSource, api_version: str, kind: str, namespace: str
) -> Iterator[tuple[Identity, KubeObject]]:
    """Every object of a kind in a namespace, status included.

    Raises:
        _NotListedError: they may not be listed, or the kind is not served.
        ClusterError: the cluster cannot be asked.
    """
    entry = cluster.kinds.get((api_version, kind))
    if entry is None:
        raise _NotListedError(f"the cluster does not serve {kind} ({api_version})")
    try:
        found = list_whole(cluster.client, api_version, entry.plural, namespace)
    except ApiError as error:
        raise _NotListedError(error.message, remedy=error.remedy) from error
    for one in found:
        whole = {"apiVersion": api_version, "kind": kind, **one}
        yield reference_of(whole).identity, whole
