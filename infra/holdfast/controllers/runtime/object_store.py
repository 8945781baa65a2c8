"""What the watches of a cluster have reported: objects, their versions, and what cannot be seen.

One store for every controller. Source: client-go, tools/cache: Store, DeletedFinalStateUnknown.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    StreamInterrupted,
    WatchedKind,
    WatchLost,
    WatchRecovered,
    WatchScope,
)
from holdfast.drift.finding import NotChecked
from holdfast.kube.objects import Identity, KubeObject

News = list[tuple[Identity, KubeObject | None]]
"""What changed: an object as it is now, a deleted one as it was last, or None if not kept."""

NOT_READ: Final = NotChecked("cluster", "not everything has been read yet")
TOMBSTONE_SECONDS: Final = 600.0
"""Longer than any answer to a write is on its way."""


@dataclass(frozen=True)
class _Tombstone:
    """A deleted object: its uid and its last version where they are known, and when it went."""

    uid: str
    version: str
    seconds: float


class InformerStore:
    """Live objects by identity; safe to use from several threads.

    Laws: a deleted object stays deleted: the late answer to a write of our own does not bring it
    back, only another object of that name does. Of an object the newest version stays, whether the
    watch or the answer to a write of our own reports it first (resourceVersions of a kind are
    numbers that grow, as the Kubernetes API promises since 1.35). A change by another client is
    news even where such an answer came first: the answer held that change, and nothing has reacted
    to it. A scope counts as seen from its first whole LIST until its watch is lost, and again from
    the next LIST, or from a stream that went on where the last one ended.

    Attributes:
        objects: Every object, where objects are kept.
        versions: Version of each object.
        unread: Declared objects that could not be read one by one, and why.
    """

    def __init__(self, kinds: tuple[WatchedKind, ...] = (), *, keeps_objects: bool = True) -> None:
        """Make an empty store.

        Args:
            kinds: What will be watched: each counts as unread until it is planned.
            keeps_objects: Without, only versions are kept: a watch judges what comes in.
        """
        self.objects: dict[Identity, KubeObject] = {}
        self.versions: dict[Identity, str] = {}
        self.unread: dict[Identity, NotChecked] = {}
        self._keeps_objects = keeps_objects
        self._unplanned = kinds
        self._planned: dict[object, tuple[WatchScope, ...]] = {}
        self._awaited: set[WatchScope] = set()
        self._blind: dict[WatchScope, str] = {}
        self._of_kind: dict[tuple[str, str], set[Identity]] = {}
        self._answered: set[Identity] = set()
        self._gone: OrderedDict[Identity, _Tombstone] = OrderedDict()
        self._changing = threading.RLock()

    def take(self, change: Change) -> News:
        """Take one change; returns what is news."""
        with self._changing:
            if isinstance(change, Moved):
                return self._moved(change)
            if isinstance(change, Snapshot):
                return self._snapshot(change)
            if isinstance(change, Planned):
                self._plan(change)
            elif isinstance(change, WatchLost):
                self._blind[change.place] = change.reason
            elif isinstance(change, WatchRecovered) and change.place not in self._awaited:
                self._blind.pop(change.place, None)
            return []

    def put(self, identity: Identity, live: KubeObject) -> None:
        """Take what a write of our own has answered, unless the watch has reported a newer one."""
        with self._changing:
            version = version_of(live)
            if not self._is_gone(identity, live) and self._is_newer(identity, version):
                self._keep(identity, _as_watched(live), version)
                self._answered.add(identity)

    def of_kind(self, group: str, kind: str) -> list[KubeObject]:
        """All live objects of a kind."""
        with self._changing:
            return [self.objects[each] for each in self._of_kind.get((group, kind), ())]

    def _plan(self, planned: Planned) -> None:
        key = planned.kind.key
        for before in set(self._planned.get(key, ())) - {*planned.places}:
            self._awaited.discard(before)
            self._blind.pop(before, None)
        self._planned[key] = planned.places
        self._unplanned = tuple(each for each in self._unplanned if each.key != key)
        self._awaited.update(planned.places)

    def _moved(self, moved: Moved) -> News:
        identity, live = moved.identity, moved.live
        if live is None:
            if identity in self._gone:
                return []
        elif self._is_gone(identity, live):
            return []
        self.unread.pop(identity, None)
        if not self._is_newer(identity, moved.version):
            is_superseded = moved.version != self.versions.get(identity)
            self._answered.discard(identity)
            return self._as_it_is([identity]) if is_superseded else []
        if live is None:
            return [(identity, self._drop(identity, moved.version))]
        self._keep(identity, live, moved.version)
        return [(identity, live)]

    def _snapshot(self, snapshot: Snapshot) -> News:
        scope, listing = snapshot.place, snapshot.listing
        self._awaited.discard(scope)
        self._blind.pop(scope, None)
        for ref in scope.refs:
            self.unread.pop(ref.identity, None)
        for identity, item in listing.unread.items():
            self.unread[identity] = NotChecked(item.scope, item.reason)
        ref = scope.kind.refs[0]
        there = listing.objects.keys() | listing.unchanged | listing.unread.keys()
        known = self._of_kind.get((ref.group, ref.kind), set())
        gone = [
            each for each in known if each not in there and scope.namespace in ("", each.namespace)
        ]
        news: News = [(identity, self._drop(identity, "")) for identity in gone]
        for identity, live in listing.objects.items():
            self._keep(identity, live, version_of(live))
            news.append((identity, live))
        # Known from the answer to a write of our own: it may have held another client's change.
        answered = listing.unchanged & self._answered
        self._answered -= answered
        return news + self._as_it_is(answered)

    def _as_it_is(self, identities: Iterable[Identity]) -> News:
        """Objects in their newest version."""
        return [(each, self.objects[each]) for each in identities if each in self.objects]

    def _is_newer(self, identity: Identity, version: str) -> bool:
        known = self.versions.get(identity)
        if known is None:
            return True
        if known.isdecimal() and version.isdecimal():
            return int(version) > int(known)
        return version != known

    def _keep(self, identity: Identity, live: KubeObject, version: str) -> None:
        self._gone.pop(identity, None)
        self._answered.discard(identity)
        self.versions[identity] = version
        self._of_kind.setdefault(identity.group_kind, set()).add(identity)
        if self._keeps_objects:
            self.objects[identity] = live

    def _drop(self, identity: Identity, version: str) -> KubeObject | None:
        live, now = self.objects.pop(identity, None), time.monotonic()
        self._gone[identity] = _Tombstone(_uid_of(live or {}), version, now)
        self._gone.move_to_end(identity)
        while next(iter(self._gone.values())).seconds < now - TOMBSTONE_SECONDS:
            self._gone.popitem(last=False)
        self.versions.pop(identity, None)
        self._answered.discard(identity)
        self._of_kind.get(identity.group_kind, set()).discard(identity)
        return live

    def _is_gone(self, identity: Identity, live: KubeObject) -> bool:
        """Whether this is a deleted object, as it was before its end."""
        tombstone = self._gone.get(identity)
        if tombstone is None:
            return False
        version, end = version_of(live), tombstone.version
        is_older = version.isdecimal() and end.isdecimal() and int(version) <= int(end)
        if tombstone.uid and _uid_of(live):
            # A newer version of the same object: its labels have left the selection and are back.
            is_unknown = not (version.isdecimal() and end.isdecimal())
            return tombstone.uid == _uid_of(live) and (is_older or is_unknown)
        return is_older

    def is_news(self, change: WatchLost | StreamInterrupted) -> bool:
        """Whether a scope was seen until now, or is lost for another reason than before."""
        is_lost = isinstance(change, WatchLost)
        return not is_lost or self._blind.get(change.place) != change.reason

    @property
    def blind(self) -> dict[str, str]:
        """Kind of which something cannot be seen now, to the reason."""
        return {scope.kind_name: reason for scope, reason in tuple(self._blind.items())}

    @property
    def listed(self) -> set[str]:
        """Kinds that were read whole, everywhere."""
        kinds = {scope.kind_name for scopes in tuple(self._planned.values()) for scope in scopes}
        return kinds - {scope.kind_name for scope in tuple(self._awaited)}

    def is_ready(self, kind: str) -> bool:
        """Whether a kind was read everywhere, as far as it can be."""
        waiting = self._awaited - self._blind.keys()
        is_planned = all(each.kind != kind for each in self._unplanned)
        return is_planned and all(scope.kind_name != kind for scope in waiting)

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """What is declared and not seen, and why."""
        is_reading = any(kind.is_declared for kind in self._unplanned) or any(
            scope.kind.is_declared for scope in self._awaited - self._blind.keys()
        )
        blind = {
            NotChecked(str(scope), reason)
            for scope, reason in self._blind.items()
            if scope.kind.is_declared
        }
        reading = {NOT_READ} if is_reading else set()
        return tuple(sorted(reading | blind | set(self.unread.values())))


def _as_watched(live: KubeObject) -> KubeObject:
    """An object as the watch reports it: managed fields stay JSON, half of what they take."""
    metadata = live["metadata"]
    owners = metadata.get("managedFields")
    if not isinstance(owners, list):
        return live
    raw = msgspec.Raw(msgspec.json.encode(owners))
    return {**live, "metadata": {**metadata, "managedFields": raw}}


def _uid_of(live: Mapping[str, Any]) -> str:
    return str((live.get("metadata") or {}).get("uid") or "")


def version_of(live: Mapping[str, Any]) -> str:
    """Version of an object; empty where it names none."""
    return str(live["metadata"].get("resourceVersion") or "")
