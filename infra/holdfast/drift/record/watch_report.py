"""What a watch reports to its listeners: its state, and each evaluation of an object."""

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
class Evaluation:
    """One object was compared, from its first change to its findings, under one id.

    Attributes:
        identifier: Of this evaluation alone.
        ref: The object.
        first_event_at: When its first change arrived.
        changes: How many changes were taken together.
        started_at: When it was taken from the queue.
        finished_at: When it was compared.
        events: What became of its findings.
    """

    identifier: str
    ref: ObjectRef
    first_event_at: Timestamp
    changes: int
    started_at: Timestamp
    finished_at: Timestamp
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
    """Receives what a watch reports, from one thread; override what is of interest."""

    def evaluated(self, evaluation: Evaluation) -> None:
        """One object was judged."""

    def read(self, reading: Reading) -> None:
        """A place was read whole."""

    def restarted(self, kind: str, reason: str) -> None:
        """A watch stream was restarted."""

    def status_changed(
        self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]
    ) -> None:
        """The state, whenever an object was judged or became unknown."""

    def flushed(
        self, events: Sequence[FindingEvent], causes: Sequence[tuple[str, CauseEvent]]
    ) -> None:
        """A round of evaluations is over.

        Args:
            events: Transitions of findings in it that have no common cause.
            causes: The others, grouped by their cause, each under an id.
        """

    def ended(self) -> None:
        """The watch is over."""
