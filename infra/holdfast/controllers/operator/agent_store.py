"""The operator's store: live objects by the agent that they say they belong to."""

from collections.abc import Mapping
from typing import Any, Final

from holdfast.controllers.runtime.object_store import InformerStore
from holdfast.kube.objects import (
    Identity,
    KubeObject,
    NamespacedName,
    api_group,
    mapping_at,
    reference_of,
)
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.manifest.types.marks import agent_of

OWN_GROUP: Final = api_group(API_VERSION)


class AgentStore(InformerStore):
    """Resources, rendered objects and pods of a stack."""

    def __init__(self) -> None:
        super().__init__()
        self._of_agent: dict[NamespacedName, set[Identity]] = {}

    def resource(self, place: NamespacedName) -> KubeObject | None:
        """The live Agent; None when there is none."""
        return self.objects.get(Identity(OWN_GROUP, AGENT_KIND, *place))

    def of_agent(self, place: NamespacedName) -> dict[Identity, KubeObject]:
        """Live objects that say they belong to an agent, its own resource left out."""
        with self._changing:
            return {each: self.objects[each] for each in self._of_agent.get(place, ())}

    def agents_on(self, node: str) -> list[NamespacedName]:
        """Every agent with a pod on a node."""
        found = {
            agent_place(reference_of(pod).identity, pod)
            for pod in self.of_kind("", "Pod")
            if mapping_at(pod, "spec").get("nodeName") == node
        }
        return sorted(place for place in found if place)

    def agents(self) -> list[NamespacedName]:
        """Every agent that has a resource."""
        found = (one["metadata"] for one in self.of_kind(OWN_GROUP, AGENT_KIND))
        return [(metadata["namespace"], metadata["name"]) for metadata in found]

    def resources(self) -> list[KubeObject]:
        """Everything of Holdfast's own kinds."""
        with self._changing:
            kinds = [kind for group, kind in self._of_kind if group == OWN_GROUP]
            return [one for kind in kinds for one in self.of_kind(OWN_GROUP, kind)]

    def _keep(self, identity: Identity, live: KubeObject, version: str) -> None:
        if (before := self.objects.get(identity)) is not None:
            self._leave_agent(identity, before)  # its labels may name another one now
        super()._keep(identity, live, version)
        if place := agent_place(identity, live):
            self._of_agent.setdefault(place, set()).add(identity)

    def _drop(self, identity: Identity, version: str) -> KubeObject | None:
        live = super()._drop(identity, version)
        if live is not None:
            self._leave_agent(identity, live)
        return live

    def _leave_agent(self, identity: Identity, live: KubeObject) -> None:
        if (place := agent_place(identity, live)) and (own := self._of_agent.get(place)):
            own.discard(identity)
            if not own:
                del self._of_agent[place]


def agent_place(identity: Identity, live: Mapping[str, Any]) -> NamespacedName | None:
    """Agent that an object says it belongs to; None where it says nothing, or is one itself."""
    group, _, namespace, _ = identity
    name = agent_of(live)
    return None if not name or group == OWN_GROUP else (namespace, name)
