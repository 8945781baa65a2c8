"""Which agents a node concerns: those with a pod on it."""

from collections.abc import Iterator

from holdfast.adapters.cluster.changes import Change
from holdfast.controllers.operator.object_store import ObjectStore, agent_place
from holdfast.controllers.runtime.node_health import NodeHealth, trigger_of
from holdfast.kube.objects import mapping_at, reference_of
from holdfast.manifest.fleet.resource_fleet import Place


class NodeAgents:
    """Turns of nodes as triggers of looks."""

    def __init__(self, board: ObjectStore) -> None:
        self._board = board
        self._health = NodeHealth()

    def take(self, change: Change) -> Iterator[tuple[list[Place], str]]:
        """Take what was heard of nodes; yields agents, and why they are to be looked at."""
        for turn in self._health.take(change):
            yield self._with_pods_on(turn[0]), trigger_of(turn)

    def _with_pods_on(self, node: str) -> list[Place]:
        found = {
            agent_place(reference_of(pod).identity, pod)
            for pod in self._board.of_kind("", "Pod")
            if mapping_at(pod, "spec").get("nodeName") == node
        }
        return sorted(place for place in found if place)
