"""What the watch has heard: resources, live objects and pods, each in its newest version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.cluster.changes import Blind, Broken, Change, Moved, Planned, Sighted, Snapshot
from holdfast.kube.objects import KubeObject, api_group, mapping_at
from holdfast.manifest.agent import API_VERSION
from holdfast.manifest.resource_fleet import Place
from holdfast.operator.agent_view import Identity
from holdfast.operator.decision import AGENT_LABEL

OWN_GROUP: Final = api_group(API_VERSION)


@dataclass
class Board:
    """Everything live, by identity.

    Attributes:
        objects: Of every kind that is watched.
        versions: Version of each.
        blind: Kind that cannot be seen now, to the reason.
        listed: Kinds that were read whole at least once.
    """

    objects: dict[Identity, KubeObject] = field(default_factory=dict)
    versions: dict[Identity, str] = field(default_factory=dict)
    blind: dict[str, str] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    _of_agent: dict[Place, set[Identity]] = field(default_factory=dict)

    def take(self, change: Change) -> Iterator[tuple[Identity, KubeObject | None]]:
        """Take one change; yields what is news: identity and object, before it where it is gone."""
        if isinstance(change, Planned):
            return
        kind = change.place.kind.kind
        if isinstance(change, Moved):
            yield from self._moved(change)
        elif isinstance(change, Snapshot):
            self.listed.add(kind)
            self.blind.pop(kind, None)
            yield from self._snapshot(change)
        elif isinstance(change, Blind):
            self.blind[kind] = change.reason
        elif isinstance(change, Sighted):
            self.blind.pop(kind, None)
        else:
            assert isinstance(change, Broken)  # noqa: S101  (the last of them)

    def _moved(self, moved: Moved) -> Iterator[tuple[Identity, KubeObject | None]]:
        if moved.live is None:
            if moved.identity in self.objects:
                yield moved.identity, self._drop(moved.identity)
        elif self.versions.get(moved.identity) != moved.version:
            self._keep(moved.identity, moved.live, moved.version)
            yield moved.identity, moved.live

    def _snapshot(self, snapshot: Snapshot) -> Iterator[tuple[Identity, KubeObject | None]]:
        listing = snapshot.listing
        refs = snapshot.place.kind.refs
        there = listing.objects.keys() | listing.unchanged | listing.unread.keys()
        for identity in [
            each for each in self.objects if each[:2] == (refs[0].group, refs[0].kind)
        ]:
            if identity not in there:
                yield identity, self._drop(identity)
        for identity, live in listing.objects.items():
            self._keep(identity, live, str(live["metadata"].get("resourceVersion") or ""))
            yield identity, live

    def _keep(self, identity: Identity, live: KubeObject, version: str) -> None:
        self.objects[identity] = live
        self.versions[identity] = version
        if place := agent_place(identity, live):
            self._of_agent.setdefault(place, set()).add(identity)

    def _drop(self, identity: Identity) -> KubeObject:
        live = self.objects.pop(identity)
        self.versions.pop(identity, None)
        if place := agent_place(identity, live):
            self._of_agent.get(place, set()).discard(identity)
        return live

    def put(self, identity: Identity, live: KubeObject) -> None:
        """Take what a write of our own has answered: newer than what was heard."""
        self._keep(identity, live, str(live["metadata"].get("resourceVersion") or ""))

    def of_agent(self, place: Place) -> dict[Identity, KubeObject]:
        """Live objects that say they belong to an agent, its own resource left out."""
        found = self._of_agent.get(place, set())
        return {each: self.objects[each] for each in tuple(found) if each in self.objects}

    def of_kind(self, group: str, kind: str) -> Iterator[KubeObject]:
        """All live objects of a kind."""
        # A copy: looks at agents put what they write from threads of their own.
        return (one for each, one in list(self.objects.items()) if each[:2] == (group, kind))

    def resources(self) -> list[KubeObject]:
        """Everything of Holdfast's own kinds."""
        return [one for each, one in self.objects.items() if each[0] == OWN_GROUP]


def agent_place(identity: Identity, live: Mapping[str, Any]) -> Place | None:
    """Agent that an object says it belongs to; None where it says nothing, or is one itself."""
    group, _, namespace, _ = identity
    name = mapping_at(live, "metadata", "labels").get(AGENT_LABEL)
    return None if not name or group == OWN_GROUP else (namespace, str(name))
