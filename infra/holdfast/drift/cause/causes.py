"""One cause of many findings: one change by one source, or a declaration not yet deployed. Pure.

A finding stays a finding; a cause only says which of them belong together. Laws of the ledger: a
cause is opened when it spans two objects, and closed when none of its findings is open; every
transition of a finding is reported once, for itself or with its cause.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.drift.finding import (
    Cause,
    DriftClass,
    DriftReport,
    Finding,
    NextUpdate,
    Severity,
)
from holdfast.drift.record.ledger import FindingEvent, FindingKey, Timestamp, Transition
from holdfast.kube.objects import Identity
from holdfast.kube.paths import ItemKey, Path, format_path

FEWEST_OBJECTS: Final = 2
_NOT_DEPLOYED: Final = "the declaration has changed since the last update and is not deployed"
_WAITING: Final = frozenset({NextUpdate.DELETES, NextUpdate.DEPLOYS})


@dataclass(frozen=True)
class ChangeSource:
    """One change by one source, wherever it was made.

    Attributes:
        done: What happened: a class of findings.
        path: Without the names of items: containers are called after their agents.
    """

    done: DriftClass
    kind: str
    path: str
    user: str
    manager: str

    def words(self, objects: int) -> str:
        """Who did what, to how many objects."""
        who = " through ".join(part for part in (self.user, self.manager) if part)
        where = f" {self.path}" if self.path else ""
        noun = "object" if objects == 1 else "objects"
        return f"{self.done}{where} in {objects} {noun} of kind {self.kind} by {who}"


def source_of(finding: Finding) -> ChangeSource | None:
    """The source that a finding shows; None where no actor is known, and for a remark."""
    if not finding.actors or not finding.is_drift:
        return None
    actor, kind = finding.actors[0], finding.ref.kind
    return ChangeSource(finding.drift_class, kind, _shape(finding.path), actor.user, actor.manager)


def causes_of(report: DriftReport) -> tuple[Cause, ...]:
    """What explains several findings of a scan, the largest first."""
    waiting: list[Finding] = []
    others: list[Finding] = []
    for each in report.drift:
        (waiting if each.next_update in _WAITING else others).append(each)
    causes = list(_same_source(others))
    if waiting:
        objects = len({each.ref for each in waiting})
        summary = f"{_NOT_DEPLOYED}: {len(waiting)} findings in {objects} objects"
        causes.append(Cause(summary, tuple(waiting), "run `pulumi up`, or take the change back"))
    return tuple(sorted(causes, key=lambda cause: -len(cause.findings)))


def _same_source(findings: Sequence[Finding]) -> Iterator[Cause]:
    """The same change of the same field by the same source, in several objects."""
    groups: dict[ChangeSource, list[Finding]] = {}
    for finding in findings:
        source = source_of(finding)
        if source is not None:
            groups.setdefault(source, []).append(finding)
    for source, found in groups.items():
        objects = len({each.ref for each in found})
        if objects >= FEWEST_OBJECTS:
            yield Cause(source.words(objects), tuple(found))


def _shape(path: Path) -> str:
    """A path without the names of items: containers are called after their agents."""
    return format_path(tuple("*" if isinstance(each, ItemKey | int) else each for each in path))


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
    def worst_severity(self) -> Severity | None:
        """Of its findings that have news; None where none has."""
        found = (event.finding.severity for event in self.events)
        return min(found, key=lambda each: each.rank, default=None)

    @property
    def spanned_objects(self) -> int:
        """How many objects it spans, or spanned until it was closed."""
        return self.objects or len({event.finding.ref for event in self.events})

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
