"""What a watch tells those who listen: its state, and what became of one look at one object."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.finding import Finding, NotChecked
from holdfast.drift.record.ledger import FindingEvent, Timestamp
from holdfast.kube.objects import ObjectRef


class Status(StrEnum):
    """What can be said of the whole: `unknown` as soon as any declared part cannot be seen."""

    IN_SYNC = "in sync"
    DRIFT = "drift"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class WatchState:
    """The state of everything that is watched.

    Attributes:
        not_checked: What is not known, and why; empty unless the status is `unknown`.
        findings: How many findings count as drift, also while the rest is unknown.
        objects: How many declared objects were judged.
    """

    status: Status
    not_checked: tuple[NotChecked, ...] = ()
    findings: int = 0
    objects: int = 0


@dataclass(frozen=True)
class Look:
    """One look at one object, from the first change to the findings, under one id.

    Attributes:
        identifier: Of this look alone.
        ref: The object.
        heard: When its first change was heard of.
        changes: How many changes were taken together.
        taken: When it was taken from the queue.
        judged: When it was judged.
        events: What became of its findings.
    """

    identifier: str
    ref: ObjectRef
    heard: Timestamp
    changes: int
    taken: Timestamp
    judged: Timestamp
    events: tuple[FindingEvent, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A place was read whole.

    Attributes:
        place: Such as `ConfigMap in cx`.
        objects: How many objects were decoded and judged; unchanged ones are not.
        unchanged: How many were there in the version that was judged before.
        seconds: From the request to the last finding.
    """

    place: str
    objects: int
    unchanged: int
    seconds: float


class Listener:
    """Receives what a watch sees, from one thread; override what is of interest."""

    def looked(self, look: Look) -> None:
        """One object was judged."""

    def read(self, reading: Reading) -> None:
        """A place was read whole."""

    def restarted(self, kind: str, reason: str) -> None:
        """A stream had to begin again."""

    def stated(self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]) -> None:
        """The state, whenever an object was judged or became unknown."""

    def settled(
        self, events: Sequence[FindingEvent], causes: Sequence[tuple[str, CauseEvent]]
    ) -> None:
        """A round of looks is over.

        Args:
            events: Turns of findings in it that stand for themselves.
            causes: The others, gathered by what is behind them, each under an id.
        """

    def ended(self) -> None:
        """The watch is over."""
