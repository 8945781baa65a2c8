"""The watch: hear, wait a moment, judge what moved, tell. One thread judges; others only hear.

What is heard goes through one inbox. While an update of the stack is under way nothing is judged,
for what moves is meant to move; when it is recorded the declaration is read anew, and everything
with it.
"""

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.cluster.backoff import spread
from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    WatchRecovered,
)
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.controllers.runtime.queue import drain
from holdfast.controllers.watch.dispatcher import ListenerDispatcher
from holdfast.controllers.watch.inputs import WatchInputs
from holdfast.controllers.watch.session import WatchSession
from holdfast.drift.finding import NotChecked
from holdfast.drift.record.ledger import Ledger
from holdfast.drift.record.watch_report import Listener
from holdfast.errors import HoldfastError

POLL_SECONDS: Final = 1.0
"""How often the stack's record on disk is looked at when nothing else happens."""

LOAD_AGAIN_SECONDS: Final = 10.0
"""How long a declaration that cannot be read is left alone."""

LISTING_JITTER: Final = 0.1
MOST_AT_ONCE: Final = 500
UPDATE_UNDER_WAY: Final = NotChecked(
    "stack", "an update is under way; if none is, run 'holdfast up --recover'"
)


@dataclass(frozen=True)
class _Heard:
    """A change, and the number of the round that it belongs to."""

    number: int
    change: Change


class WatchLoop:
    """Watches until it is told to stop."""

    def __init__(
        self, sources: WatchInputs, listeners: Sequence[Listener], interval_seconds: float
    ) -> None:
        """Prepare to watch.

        Args:
            sources: Where everything comes from.
            listeners: Who is told.
            interval_seconds: Within it every scope is read again, as a safety net.
        """
        self._sources = sources
        self._interval_seconds = interval_seconds
        self._inbox: queue.SimpleQueue[_Heard | None] = queue.SimpleQueue()
        self._is_stopping = False
        self._ledger = Ledger()
        self._dispatcher = ListenerDispatcher(listeners)
        self._number = 0
        self._next_load = 0.0
        self._problem: NotChecked | None = None
        self._is_outdated = False

    def stop(self) -> None:
        """End the watch; from any thread, and from a signal handler."""
        self._is_stopping = True
        self._inbox.put(None)

    def run(self) -> None:
        """Watch until stopped.

        Raises:
            HoldfastError: the declaration or the cluster cannot be read at the start.
        """
        self._activity = self._sources.activity()
        self._begin()
        try:
            while not self._is_stopping:
                self._step()
        finally:
            self._watch.stop()
            self._dispatcher.settle()

    def _begin(self) -> None:
        """Begin a round: everything is read and judged by the declaration as it is now."""
        wanted = self._sources.load()
        self._number += 1
        self._session = WatchSession(wanted, self._sources, self._ledger, self._dispatcher)
        number, inbox = self._number, self._inbox
        self._watch: ClusterWatch = self._sources.watch(
            wanted.kinds,
            lambda change: inbox.put(_Heard(number, change)),
            self._session.store.versions,
        )
        self._plan_listing()

    def _plan_listing(self) -> None:
        """Spread the LISTs of all scopes over the interval: the server never gets all at once."""
        seconds = self._interval_seconds / max(1, len(self._watch))
        self._next_listing = time.monotonic() + spread(seconds, LISTING_JITTER)

    def _step(self) -> None:
        self._hear()
        self._keep_up_with_the_stack()
        if self._problem is None:
            self._session.note_sessions()
            self._session.judge_all_due()
        self._dispatcher.settle()
        if time.monotonic() >= self._next_listing:
            self._watch.list_next()
            self._plan_listing()
        problems = () if self._problem is None else (self._problem,)
        not_checked = (*problems, *self._session.not_checked)
        self._dispatcher.state(not_checked, self._ledger, self._session.objects)

    def _hear(self) -> None:
        """Take what was heard, waiting for it as long as nothing else is to be done."""
        now = time.monotonic()
        wait = min(POLL_SECONDS, max(0.0, self._next_listing - now))
        if self._problem is None:
            due = self._session.queue.seconds_until_due(now)
            wait = wait if due is None else min(wait, due)
        for each in drain(self._inbox, wait, MOST_AT_ONCE):
            if each is not None and each.number == self._number:
                self._take(each.change)

    def _take(self, change: Change) -> None:
        session, store = self._session, self._session.store
        if isinstance(change, Moved):
            session.note_moved(change)
        elif isinstance(change, Snapshot):
            session.hold(change)
            if change.is_restart:
                self._dispatcher.restart(change.place.kind_name, "listed again")
        else:
            if isinstance(change, Planned):
                self._is_outdated |= session.lacked(change.kind)
            elif not isinstance(change, WatchRecovered) and store.is_news(change):
                self._dispatcher.restart(change.place.kind_name, change.reason)
            store.take(change)

    def _keep_up_with_the_stack(self) -> None:
        """Judge nothing during an update; begin anew after one that was recorded."""
        try:
            now = self._sources.activity()
            if now.is_under_way:
                self._problem = UPDATE_UNDER_WAY
                return
            if (
                self._is_outdated or now != self._activity
            ):  # a record was added, or whoever held the lock has gone
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
