"""Which findings are open, since when, and what became of them: drift as it comes and goes. Pure.

Laws: a finding is opened once and closed once; what is open is what was found last, object by
object; a finding that came and went between two looks is reported when both are noted.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from holdfast.drift.finding import DriftClass, Finding
from holdfast.kube.objects import Identity
from holdfast.kube.paths import Path

FindingKey = tuple[DriftClass, Path]


class Transition(StrEnum):
    """What happened to a finding."""

    OPENED = "opened"
    CHANGED = "changed"
    CLOSED = "closed"


@dataclass(frozen=True)
class Timestamp:
    """A time on both clocks: differences are taken on the one that never jumps.

    Attributes:
        seconds: Monotonic; for differences only.
        time: For people, in UTC.
    """

    seconds: float
    time: datetime


@dataclass(frozen=True)
class FindingEvent:
    """One transition of one finding.

    Attributes:
        finding: As it is now; of a closed one, as it was last.
        opened: When the finding was first seen.
        at: When this transition was seen.
    """

    transition: Transition
    finding: Finding
    opened: Timestamp
    at: Timestamp

    @property
    def dwell_seconds(self) -> float:
        """How long the finding has been open."""
        return max(0.0, self.at.seconds - self.opened.seconds)


class Ledger:
    """The open findings, by object.

    Attributes:
        counting: How many of them are drift, and not remarks.
    """

    def __init__(self) -> None:
        self.counting = 0
        self._open: dict[Identity, dict[FindingKey, tuple[Finding, Timestamp]]] = {}

    def __iter__(self) -> Iterator[tuple[Finding, Timestamp]]:
        """Every open finding with the moment it was opened."""
        for found in self._open.values():
            yield from found.values()

    @property
    def identities(self) -> frozenset[Identity]:
        """Objects with open findings."""
        return frozenset(self._open)

    def is_as_before(self, identity: Identity, findings: Iterable[Finding]) -> bool:
        """Whether the findings of an object are those that are open already."""
        return self._open.get(identity, {}).keys() == _by_key(findings).keys()

    def note(
        self, identity: Identity, findings: Iterable[Finding], at: Timestamp
    ) -> tuple[FindingEvent, ...]:
        """Take what is found of one object now for what is open.

        Args:
            identity: The object.
            findings: All of its findings; none when it is in sync, or gone and not declared.
            at: When the object was seen like this.
        """
        before = self._open.pop(identity, {})
        now = _by_key(findings)
        self.counting += sum(finding.is_drift for finding in now.values())
        self.counting -= sum(finding.is_drift for finding, _ in before.values())
        events = []
        kept = {}
        for key, finding in now.items():
            old, opened = before.pop(key, (None, at))
            kept[key] = (finding, opened)
            if old != finding:
                transition = Transition.OPENED if old is None else Transition.CHANGED
                events.append(FindingEvent(transition, finding, opened, at))
        for finding, opened in before.values():
            events.append(FindingEvent(Transition.CLOSED, finding, opened, at))
        if kept:
            self._open[identity] = kept
        return tuple(events)


def _by_key(findings: Iterable[Finding]) -> Mapping[FindingKey, Finding]:
    return {(finding.drift_class, finding.path): finding for finding in findings}
