"""The watch: receive, debounce, compare what changed, report. Only one thread compares.

What is heard goes through one inbox. While an update of the stack is under way nothing is judged,
for what moves is meant to move; when it is recorded the declaration is read again, and everything
with it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    WatchRecovered,
)
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.controllers.runtime.event_loop import EventLoop
from holdfast.controllers.watch.dispatcher import ListenerDispatcher
from holdfast.controllers.watch.inputs import WatchInputs
from holdfast.controllers.watch.session import WatchSession
from holdfast.drift.finding import NotChecked
from holdfast.drift.record.ledger import Ledger
from holdfast.drift.record.watch_report import Listener
from holdfast.errors import HoldfastError

POLL_SECONDS: Final = 1.0
"""How often the stack's record on disk is read when nothing else happens."""

LOAD_AGAIN_SECONDS: Final = 10.0
"""How long a declaration that cannot be read is left alone."""

JITTER: Final = 0.1
UPDATE_UNDER_WAY: Final = NotChecked(
    "stack", "an update is under way; if none is, run 'holdfast up --recover'"
)


@dataclass(frozen=True)
class _Numbered:
    """A change, and the number of the round that it belongs to."""

    number: int
    change: Change


class WatchLoop:
    """Watches until it is stopped."""

    def __init__(
        self, inputs: WatchInputs, listeners: Sequence[Listener], interval_seconds: float
    ) -> None:
        """Prepare to watch.

        Args:
            inputs: Where everything comes from.
            listeners: They hear of findings.
            interval_seconds: Within it every scope is read again, as a safety net.
        """
        self._inputs = inputs
        self._interval_seconds = interval_seconds
        self._loop: EventLoop[_Numbered] = EventLoop(self._take_numbered, self._turn, POLL_SECONDS)
        self._ledger = Ledger()
        self._dispatcher = ListenerDispatcher(listeners)
        self._number = 0
        self._next_load = 0.0
        self._problem: NotChecked | None = None
        self._is_outdated = False

    def stop(self) -> None:
        """End the watch; from any thread, and from a signal handler."""
        self._loop.stop()

    def run(self) -> None:
        """Watch until stopped.

        Raises:
            HoldfastError: the declaration or the cluster cannot be read at the start.
        """
        self._activity = self._inputs.activity()
        self._begin()
        self._loop.every(self._listing_seconds, self._list_next, jitter=JITTER)
        try:
            self._loop.run()
        finally:
            self._watch.stop()
            self._dispatcher.settle()

    def _begin(self) -> None:
        """Begin a round: everything is read and judged by the declaration as it is now."""
        desired = self._inputs.load()
        self._number += 1
        self._session = WatchSession(desired, self._inputs, self._ledger, self._dispatcher)
        number, post = self._number, self._loop.post
        self._watch: ClusterWatch = self._inputs.watch(
            desired.kinds,
            lambda change: post(_Numbered(number, change)),
            self._session.store.versions,
        )

    def _list_next(self) -> None:
        self._watch.list_next()

    def _listing_seconds(self) -> float:
        """Between two LISTs: they are spread over the interval, never sent all at once."""
        return self._interval_seconds / max(1, len(self._watch))

    def _turn(self) -> float | None:
        self._keep_up_with_the_stack()
        if self._problem is None:
            self._session.note_sessions()
            self._session.judge_all_due()
        self._dispatcher.settle()
        problems = () if self._problem is None else (self._problem,)
        not_checked = (*problems, *self._session.not_checked)
        self._dispatcher.state(not_checked, self._ledger, self._session.objects)
        due = self._session.queue.seconds_until_due(time.monotonic())
        return due if self._problem is None else None

    def _take_numbered(self, numbered: _Numbered) -> None:
        if numbered.number == self._number:
            self._take(numbered.change)

    def _take(self, change: Change) -> None:
        session, store = self._session, self._session.store
        if isinstance(change, Moved):
            session.note_moved(change)
        elif isinstance(change, Snapshot):
            session.defer(change)
            if change.is_restart:
                self._dispatcher.restart(change.place.kind_name, "listed again")
        else:
            if isinstance(change, Planned):
                self._is_outdated |= session.lacked(change.kind)
            elif not isinstance(change, WatchRecovered) and store.is_news(change):
                self._dispatcher.restart(change.place.kind_name, change.reason)
            store.take(change)

    def _keep_up_with_the_stack(self) -> None:
        """Judge nothing during an update; begin again after one that was recorded."""
        try:
            now = self._inputs.activity()
            if now.is_under_way:
                self._problem = UPDATE_UNDER_WAY
                return
            if (
                self._is_outdated or now != self._activity
            ):  # a record was added, or the holder of the lock has gone
                if time.monotonic() < self._next_load:
                    return
                self._next_load = time.monotonic() + LOAD_AGAIN_SECONDS
                before = self._watch
                self._begin()
                before.stop()
                self._activity, self._next_load, self._is_outdated = now, 0.0, False
        except HoldfastError as error:
            self._problem = NotChecked("declaration", str(error))
        else:
            self._problem = None
