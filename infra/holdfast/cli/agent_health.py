"""How the agents of a stack are, as the cluster has them now. Wiring."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from holdfast.cli.drift_cluster import ClusterSource
from holdfast.cli.stack_state import StackState
from holdfast.drift.health import Health, HealthVerdict, health_of, worst
from holdfast.drift.scan import Identity
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.render.marks import RenderedObject

_REQUEST_TIMEOUT_SECONDS = 60.0
_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Rollout", "Job"})
GONE = HealthVerdict(Health.DEGRADED, "it does not exist")


def health_of_agents(root: Path, stack: str) -> dict[str, HealthVerdict]:
    """Agent to how it is: as bad as the worst of its workloads; every agent of the stack is in it.

    Raises:
        InvalidFilesError: the manifests are not valid.
        ClusterError: the cluster cannot be asked.
    """
    state = StackState(root, stack)
    agents = [agent.name for agent in state.fleet.agents]
    items = [item for item in state.rendered if item.manifest["kind"] in _WORKLOADS]
    found = dict(_verdicts(state, items)) if items else {}
    return {
        agent: worst({str(ref): verdict for (name, ref), verdict in found.items() if name == agent})
        for agent in agents
    }


def _verdicts(
    state: StackState, items: list[RenderedObject]
) -> Iterator[tuple[tuple[str, ObjectRef], HealthVerdict]]:
    cluster = ClusterSource.connect(state.kubeconfig, state.context, _REQUEST_TIMEOUT_SECONDS)
    placed = cluster.placed([item.manifest for item in items])
    places = {
        (ref.api_version, ref.kind, ref.namespace) for ref in (reference_of(one) for one in placed)
    }
    live = dict(chain.from_iterable(_live(cluster, *place) for place in sorted(places)))
    for item, one in zip(items, placed, strict=True):
        ref = reference_of(one)
        found = live.get(ref.identity)
        yield (item.agent, ref), GONE if found is None else health_of(found)


def _live(
    cluster: ClusterSource, api_version: str, kind: str, namespace: str
) -> Iterator[tuple[Identity, KubeObject]]:
    """Every object of a kind in a namespace, status included."""
    from holdfast.cluster.whole_objects import list_whole  # noqa: PLC0415  (files need no client)

    entry = cluster.kinds.get((api_version, kind))
    if entry is None:
        return
    for one in list_whole(cluster.client, api_version, entry.plural, namespace):
        whole = {"apiVersion": api_version, "kind": kind, **one}
        yield reference_of(whole).identity, whole
