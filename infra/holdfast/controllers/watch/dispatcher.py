"""Tell those who listen, each look under an id of its own."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from holdfast.adapters.cluster.changes import Snapshot
from holdfast.controllers.runtime.log import run_ids
from holdfast.controllers.watch.pending import Task
from holdfast.drift.cause.causes import CauseLedger
from holdfast.drift.finding import NotChecked
from holdfast.drift.record.ledger import FindingEvent, Ledger, Timestamp
from holdfast.drift.record.watch_report import Evaluation, Listener, Reading, Status, WatchState
from holdfast.kube.objects import ObjectRef

STATE_SECONDS = 1.0


def timestamp_at(seconds: float) -> Timestamp:
    """A monotonic time on both clocks."""
    ago = timedelta(seconds=time.monotonic() - seconds)
    return Timestamp(seconds, datetime.now(UTC) - ago)


class ListenerDispatcher:
    """Hands everything to all listeners."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners
        self._stated: tuple[tuple[NotChecked, ...], Status] | None = None
        self._next_statement = 0.0
        self._causes = CauseLedger()
        self._names = run_ids()

    def evaluated(
        self, ref: ObjectRef, task: Task, taken: float, events: tuple[FindingEvent, ...]
    ) -> None:
        """One object was judged."""
        evaluation = Evaluation(
            identifier=next(self._names),
            ref=ref,
            first_event_at=timestamp_at(task.first_event_at),
            changes=task.changes,
            started_at=timestamp_at(taken),
            finished_at=timestamp_at(time.monotonic()),
            events=events,
        )
        self._causes.note(events)
        for listener in self._listeners:
            listener.evaluated(evaluation)

    def settle(self) -> None:
        """A batch of judgements is over: report what they have in common."""
        if not self._causes.has_news:
            return
        events, causes = self._causes.settle(timestamp_at(time.monotonic()))
        named = [(next(self._names), cause) for cause in causes]
        for listener in self._listeners:
            listener.flushed(events, named)

    def reading(self, snapshot: Snapshot) -> None:
        """A place was read whole and judged."""
        listing = snapshot.listing
        seconds = time.monotonic() - snapshot.seconds
        sizes = (len(listing.objects), len(listing.unchanged))
        for listener in self._listeners:
            listener.read(Reading(str(snapshot.place), *sizes, seconds))

    def restart(self, kind: str, reason: str) -> None:
        """A stream had to begin again."""
        for listener in self._listeners:
            listener.restarted(kind, reason)

    def state(
        self,
        not_checked: tuple[NotChecked, ...],
        ledger: Ledger,
        objects: int,
    ) -> None:
        """What can be said of the whole: nothing good as long as something is not known.

        Reported at once when it is another one, else once a second: who listens goes through all
        findings that are open.
        """
        findings = ledger.counting
        status = Status.DRIFT if findings else Status.IN_SYNC
        if not_checked:
            status = Status.UNKNOWN
        now = time.monotonic()
        if (not_checked, status) == self._stated and now < self._next_statement:
            return
        self._stated, self._next_statement = (not_checked, status), now + STATE_SECONDS
        state = WatchState(status, not_checked, findings, objects)
        for listener in self._listeners:
            listener.status_changed(state, tuple(ledger))
