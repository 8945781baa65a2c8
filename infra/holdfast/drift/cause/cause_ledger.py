"""Findings that one source explains, told once while they come and go. Pure.

Laws: a cause is opened when it comes to span two objects, and closed when none of its findings is
open any more; every transition of a finding is told once, for itself or with its cause.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.drift.cause.causes import FEWEST_OBJECTS, ChangeSource, source_of
from holdfast.drift.record.ledger import FindingEvent, FindingKey, Timestamp, Transition
from holdfast.kube.objects import Identity

Key = tuple[Identity, FindingKey]


@dataclass(frozen=True)
class CauseEvent:
    """One transition of what is behind several findings.

    Attributes:
        transition: `changed` when it spans more objects, or fewer, than before.
        events: Turns of its findings since the last one.
        objects: How many objects it spans now.
        opened: When it came to span more than one.
    """

    transition: Transition
    source: ChangeSource
    events: tuple[FindingEvent, ...]
    objects: int
    opened: Timestamp
    at: Timestamp

    @property
    def dwell_seconds(self) -> float:
        """How long it has been open."""
        return max(0.0, self.at.seconds - self.opened.seconds)


class CauseLedger:
    """The open findings by the source behind them, and what has happened since it was asked."""

    def __init__(self) -> None:
        self._sources: dict[Key, ChangeSource] = {}
        self._open: dict[ChangeSource, set[Key]] = {}
        self._told: dict[ChangeSource, Timestamp] = {}
        self._news: list[tuple[FindingEvent, ChangeSource | None]] = []

    @property
    def has_news(self) -> bool:
        """Whether anything has happened since it was settled."""
        return bool(self._news)

    def note(self, events: Iterable[FindingEvent]) -> None:
        """Take turns of findings."""
        for event in events:
            finding = event.finding
            key: Key = (finding.ref.identity, (finding.drift_class, finding.path))
            before = self._sources.pop(key, None)
            if before is not None:
                self._open[before].discard(key)
            source = before if event.transition is Transition.CLOSED else source_of(finding)
            if source is not None and event.transition is not Transition.CLOSED:
                self._sources[key] = source
                self._open.setdefault(source, set()).add(key)
            self._news.append((event, source))

    def settle(self, at: Timestamp) -> tuple[list[FindingEvent], list[CauseEvent]]:
        """What stands for itself, and what was gathered by its cause."""
        alone: list[FindingEvent] = []
        gathered: dict[ChangeSource, list[FindingEvent]] = {}
        for event, source in self._news:
            if source is not None and (
                source in self._told or self._objects(source) >= FEWEST_OBJECTS
            ):
                gathered.setdefault(source, []).append(event)
            else:
                alone.append(event)
        self._news.clear()
        for source in self._told:
            if not self._open.get(source):
                gathered.setdefault(source, [])  # others have written over all that it did
        causes = [self._transition(source, events, at) for source, events in gathered.items()]
        for source in [source for source, keys in self._open.items() if not keys]:
            del self._open[source]
            self._told.pop(source, None)
        return alone, causes

    def _transition(
        self, source: ChangeSource, events: list[FindingEvent], at: Timestamp
    ) -> CauseEvent:
        objects = self._objects(source)
        transition = Transition.CHANGED if source in self._told else Transition.OPENED
        opened = self._told.setdefault(source, at)
        transition = transition if objects else Transition.CLOSED
        return CauseEvent(transition, source, tuple(events), objects, opened, at)

    def _is_shared(self, source: ChangeSource) -> bool:
        return source in self._told or self._objects(source) >= FEWEST_OBJECTS

    def _objects(self, source: ChangeSource) -> int:
        return len({identity for identity, _ in self._open.get(source, ())})
