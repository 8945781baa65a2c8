"""Live objects as the watch knows them: resources, rendered objects and pods, newest versions."""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    StreamInterrupted,
    WatchLost,
    WatchRecovered,
)
from holdfast.kube.objects import Identity, KubeObject, api_group, mapping_at, reference_of
from holdfast.manifest.agent.agent import AGENT_KIND, API_VERSION
from holdfast.manifest.fleet.resource_fleet import Place
from holdfast.manifest.types.agent_label import agent_of

OWN_GROUP: Final = api_group(API_VERSION)
TOMBSTONE_SECONDS: Final = 600.0
"""Longer than any answer to a write is on its way."""


@dataclass(frozen=True)
class _Tombstone:
    """An object that is gone: its uid, the version at its end where that is known, and when."""

    uid: str
    version: str
    seconds: float


@dataclass
class ObjectStore:
    """Everything live, by identity; safe to use from several threads.

    Laws: an object that is gone stays gone: the late answer to a write of our own does not bring it
    back, only another object of that name does. Of an object the newest version stays, whatever
    tells of it first: the watch, or the answer
    to a write of our own (resourceVersions of a kind are numbers that grow, as the Kubernetes API
    promises since 1.35). What somebody else wrote is news even where such an answer came first, for
    it held that change, too, and nobody has looked at it.

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
    _kinds: dict[tuple[str, str], dict[Identity, KubeObject]] = field(default_factory=dict)
    _gone: OrderedDict[Identity, _Tombstone] = field(default_factory=OrderedDict)
    _changing: threading.RLock = field(default_factory=threading.RLock)

    def take(self, change: Change) -> list[tuple[Identity, KubeObject | None]]:
        """Take one change; returns what is news: identity and object, what is gone as it was."""
        if isinstance(change, Planned):
            return []
        kind = change.place.kind.kind
        if isinstance(change, Moved):
            return self._moved(change)
        if isinstance(change, Snapshot):
            self.listed.add(kind)
            self.blind.pop(kind, None)
            return self._snapshot(change)
        if isinstance(change, WatchLost):
            self.blind[kind] = change.reason
        elif isinstance(change, WatchRecovered):
            self.blind.pop(kind, None)
        else:
            assert isinstance(change, StreamInterrupted)  # noqa: S101  (the last of them)
        return []

    def _moved(self, moved: Moved) -> list[tuple[Identity, KubeObject | None]]:
        identity = moved.identity
        with self._changing:
            if moved.live is not None and self._is_gone(identity, moved.live):
                return []
            if not self._is_newer(identity, moved.version):
                is_overtaken = moved.version != self.versions.get(identity)
                return self._as_it_is([identity]) if is_overtaken else []
            if moved.live is not None:
                self._keep(identity, moved.live, moved.version)
                return [(identity, moved.live)]
            if identity in self.objects:
                return [(identity, self._drop(identity, moved.version))]
            return []

    def _snapshot(self, snapshot: Snapshot) -> list[tuple[Identity, KubeObject | None]]:
        listing = snapshot.listing
        ref = snapshot.place.kind.refs[0]
        there = listing.objects.keys() | listing.unchanged | listing.unread.keys()
        with self._changing:
            known = self._kinds.get((ref.group, ref.kind), {})
            gone = [identity for identity in known if identity not in there]
            news: list[tuple[Identity, KubeObject | None]] = [
                (identity, self._drop(identity, "")) for identity in gone
            ]
            for identity, live in listing.objects.items():
                self._keep(identity, live, _version_of(live))
                news.append((identity, live))
            # Known from the answer to a status that we wrote: it may have held another's change.
            return news + self._as_it_is(each for each in listing.unchanged if each[0] == OWN_GROUP)

    def _as_it_is(self, told: Iterable[Identity]) -> list[tuple[Identity, KubeObject | None]]:
        """Objects of which something was told, in the newest version."""
        return [(each, self.objects[each]) for each in told if each in self.objects]

    def _is_newer(self, identity: Identity, version: str) -> bool:
        known = self.versions.get(identity, "")
        if known.isdecimal() and version.isdecimal():
            return int(version) > int(known)
        return version != known

    def _keep(self, identity: Identity, live: KubeObject, version: str) -> None:
        if (before := self.objects.get(identity)) is not None:
            self._leave_agent(identity, before)  # its labels may name another one now
        self._gone.pop(identity, None)
        self.objects[identity] = live
        self.versions[identity] = version
        self._kinds.setdefault(identity.group_kind, {})[identity] = live
        if place := agent_place(identity, live):
            self._of_agent.setdefault(place, set()).add(identity)

    def _drop(self, identity: Identity, version: str) -> KubeObject:
        live = self.objects.pop(identity)
        now = time.monotonic()
        self._gone[identity] = _Tombstone(_uid_of(live), version, now)
        self._gone.move_to_end(identity)
        while next(iter(self._gone.values())).seconds < now - TOMBSTONE_SECONDS:
            self._gone.popitem(last=False)
        self.versions.pop(identity, None)
        self._kinds[identity.group_kind].pop(identity, None)
        self._leave_agent(identity, live)
        return live

    def _is_gone(self, identity: Identity, live: Mapping[str, Any]) -> bool:
        """Whether an object is one that is known to be gone, as it was before its end."""
        tombstone = self._gone.get(identity)
        if tombstone is None:
            return False
        if tombstone.uid and _uid_of(live):
            return tombstone.uid == _uid_of(live)
        version, end = _version_of(live), tombstone.version
        return version.isdecimal() and end.isdecimal() and int(version) <= int(end)

    def _leave_agent(self, identity: Identity, live: KubeObject) -> None:
        if place := agent_place(identity, live):
            self._of_agent.get(place, set()).discard(identity)

    def put(self, identity: Identity, live: KubeObject) -> None:
        """Take what a write of our own has answered, unless the watch has told of a newer one."""
        with self._changing:
            version = _version_of(live)
            if not self._is_gone(identity, live) and self._is_newer(identity, version):
                self._keep(identity, _as_heard(live), version)

    def of_agent(self, place: Place) -> dict[Identity, KubeObject]:
        """Live objects that say they belong to an agent, its own resource left out."""
        with self._changing:
            return {each: self.objects[each] for each in self._of_agent.get(place, ())}

    def of_kind(self, group: str, kind: str) -> list[KubeObject]:
        """All live objects of a kind."""
        with self._changing:
            return list(self._kinds.get((group, kind), {}).values())

    def agents_on(self, node: str) -> list[Place]:
        """Every agent with a pod on a node."""
        found = {
            agent_place(reference_of(pod).identity, pod)
            for pod in self.of_kind("", "Pod")
            if mapping_at(pod, "spec").get("nodeName") == node
        }
        return sorted(place for place in found if place)

    def agents(self) -> list[Place]:
        """Every agent that has a resource."""
        found = (one["metadata"] for one in self.of_kind(OWN_GROUP, AGENT_KIND))
        return [(metadata["namespace"], metadata["name"]) for metadata in found]

    def resources(self) -> list[KubeObject]:
        """Everything of Holdfast's own kinds."""
        with self._changing:
            kinds = [key for key in self._kinds if key[0] == OWN_GROUP]
            return [one for key in kinds for one in self._kinds[key].values()]


def _as_heard(live: KubeObject) -> KubeObject:
    """An object as the watch tells it: who owns which field stays JSON, half of what it takes."""
    metadata = live["metadata"]
    owners = metadata.get("managedFields")
    if not isinstance(owners, list):
        return live
    raw = msgspec.Raw(msgspec.json.encode(owners))
    return {**live, "metadata": {**metadata, "managedFields": raw}}


def _uid_of(live: Mapping[str, Any]) -> str:
    return str(live["metadata"].get("uid") or "")


def _version_of(live: Mapping[str, Any]) -> str:
    return str(live["metadata"].get("resourceVersion") or "")


def agent_place(identity: Identity, live: Mapping[str, Any]) -> Place | None:
    """Agent that an object says it belongs to; None where it says nothing, or is one itself."""
    group, _, namespace, _ = identity
    name = agent_of(live)
    return None if not name or group == OWN_GROUP else (namespace, name)
