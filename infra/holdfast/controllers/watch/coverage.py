"""What a watch can see: which places were read, which it is blind for, which versions it knows."""

from dataclasses import dataclass, field

from holdfast.adapters.cluster.changes import Moved, Planned, Snapshot, WatchedKind, WatchScope
from holdfast.drift.finding import NotChecked
from holdfast.kube.objects import Identity, ObjectRef

KindPlan = tuple[str, tuple[ObjectRef, ...]]

NOT_READ = NotChecked("cluster", "not everything has been read yet")


@dataclass
class WatchCoverage:
    """What is known of what is watched.

    Law: a declared place counts as seen from its first whole LIST until it is lost, and again from
    the next LIST, or from a stream that went on where the last one ended.

    Attributes:
        known: Version of each object that was heard of last.
        unread: Declared objects that could not be read one by one.
    """

    kinds: tuple[WatchedKind, ...]
    known: dict[Identity, str] = field(default_factory=dict)
    unread: dict[Identity, NotChecked] = field(default_factory=dict)
    _planned: dict[KindPlan, tuple[WatchScope, ...]] = field(default_factory=dict)
    _awaited: set[WatchScope] = field(default_factory=set)
    _blind: dict[WatchScope, str] = field(default_factory=dict)
    _members: dict[WatchScope, set[Identity]] = field(default_factory=dict)

    def plan(self, planned: Planned) -> None:
        """A kind will be watched in these places."""
        for before in set(self._planned.get(planned.kind.key, ())) - {*planned.places}:
            self._awaited.discard(before)
            self._blind.pop(before, None)
        self._planned[planned.kind.key] = planned.places
        self._awaited.update(planned.places)

    def take(self, snapshot: Snapshot) -> frozenset[Identity]:
        """Take what a place holds now; returns what was there before and is not any more."""
        place, listing = snapshot.place, snapshot.listing
        self._awaited.discard(place)
        self._blind.pop(place, None)
        there = listing.objects.keys() | listing.unchanged
        gone = frozenset(self._members.get(place, set()) - there - listing.unread.keys())
        self._members[place] = set(there)
        for identity, one in listing.objects.items():
            self.known[identity] = str(one["metadata"].get("resourceVersion") or "")
        for identity in gone:
            self.known.pop(identity, None)
        for ref in place.refs:
            self.unread.pop(ref.identity, None)
        for identity, item in listing.unread.items():
            self.unread[identity] = NotChecked(item.scope, item.reason)
        return gone

    def note_moved(self, moved: Moved) -> bool:
        """Take one change; returns whether it is news."""
        members = self._members.setdefault(moved.place, set())
        if moved.live is None:
            members.discard(moved.identity)
            self.known.pop(moved.identity, None)
            return True
        is_news = self.known.get(moved.identity) != moved.version
        members.add(moved.identity)
        self.known[moved.identity] = moved.version
        self.unread.pop(moved.identity, None)
        return is_news

    def lose(self, place: WatchScope, reason: str) -> bool:
        """The place cannot be seen; returns whether that is news."""
        is_news = self._blind.get(place) != reason
        self._blind[place] = reason
        return is_news

    def regain(self, place: WatchScope) -> None:
        """The place can be seen again, and nothing was missed."""
        if place not in self._awaited:
            self._blind.pop(place, None)

    def is_ready(self, kind: str) -> bool:
        """Whether a kind was read everywhere, as far as it can be."""
        waiting = self._awaited - self._blind.keys()
        unplanned = any(each.kind == kind and each.key not in self._planned for each in self.kinds)
        return not unplanned and not any(place.kind.kind == kind for place in waiting)

    @property
    def is_whole(self) -> bool:
        """Whether every declared place was read and is seen."""
        return not self.not_checked

    @property
    def members(self) -> frozenset[Identity]:
        """Everything that is there."""
        return frozenset().union(*self._members.values())

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """What is declared and not seen, and why."""
        is_reading = any(
            kind.is_declared and kind.key not in self._planned for kind in self.kinds
        ) or any(place.kind.is_declared for place in self._awaited - self._blind.keys())
        blind = {
            NotChecked(str(place), reason)
            for place, reason in self._blind.items()
            if place.kind.is_declared
        }
        reading = {NOT_READ} if is_reading else set()
        return tuple(sorted(reading | blind | set(self.unread.values())))
