"""The state of a reconciler: counted for Prometheus, reported as conditions. Pure but for a clock.

Source: Prometheus, "Metric and label naming"; Kubernetes API conventions, "Typical status
properties".
"""

import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from holdfast.adapters.clock import utc_now
from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.reconciler import COMMIT
from holdfast.controllers.gitops.roles import SUSPENDED, BlockedReason, Field, LoopListener
from holdfast.kube.conditions import with_times

METRICS: Final = {
    "holdfast_reconciles_total": "Pieces of work done, by key and outcome.",
    "holdfast_reconcile_seconds": "How long a piece of work took, by key.",
    "holdfast_conflicts_total": "Fields no longer reverted: other clients kept writing them.",
    "holdfast_conflicts_open": "Fields that are only reported: other clients keep writing them.",
    "holdfast_reconcile_last_success_timestamp_seconds": "When work last ended well, by key.",
    "holdfast_reconcile_behind": "1 while the wanted commit does not run, else 0.",
    "holdfast_reconcile_behind_seconds": "For how long a wanted commit has waited, 0 when it runs.",
    "holdfast_reconcile_start_timestamp_seconds": "When this loop began: restarts are visible.",
    "holdfast_reconcile_alive_timestamp_seconds": "When the loop last ended a piece of work.",
    "holdfast_reconcile_suspended": "1 while the stack is suspended, else 0.",
    "holdfast_reconcile_leader": "1 for the one loop that may act on the stack, else 0.",
}
"""Name to meaning; every metric has the label `stack`."""

_GOOD: Final = frozenset({"succeeded", "unchanged"})
_SECONDS: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
AGENT: Final = "agent"


class LoopState(LoopListener):
    """Listens to a reconciler; read from other threads."""

    def __init__(self, stack: str, conditions: LoopConditions) -> None:
        """Begin to count.

        Args:
            stack: Whose loop it is.
            conditions: Listens to the same reconciler, and is called before.
        """
        self._stack = stack
        self._conditions = conditions
        self._timed: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self.registry = CollectorRegistry()
        self._reconciles = self._counter("holdfast_reconciles_total", "key", "outcome")
        self._conflicts = self._counter("holdfast_conflicts_total")
        self._open = self._gauge("holdfast_conflicts_open")
        self._success = self._gauge("holdfast_reconcile_last_success_timestamp_seconds", "key")
        self._behind = self._gauge("holdfast_reconcile_behind")
        lag = self._gauge("holdfast_reconcile_behind_seconds").labels(stack)
        lag.set_function(self._seconds_behind)
        self._gauge("holdfast_reconcile_start_timestamp_seconds").labels(stack).set(time.time())
        self._alive = self._gauge("holdfast_reconcile_alive_timestamp_seconds")
        self._leader = self._gauge("holdfast_reconcile_leader")
        self._suspended = self._gauge("holdfast_reconcile_suspended")
        self._seconds = Histogram(
            "holdfast_reconcile_seconds",
            METRICS["holdfast_reconcile_seconds"],
            ("stack", "key"),
            registry=self.registry,
            buckets=_SECONDS,
        )
        for metric in (
            *(self._conflicts, self._open, self._behind),
            *(self._alive, self._leader, self._suspended),
        ):
            metric.labels(stack)
        self._behind_since: float | None = None
        self._is_leader = False

    def leads(self, is_leader: bool) -> None:
        """Take whether this loop is the one that acts."""
        self._is_leader = is_leader
        self._leader.labels(self._stack).set(is_leader)

    def reconciled(self, key: str, outcome: str, seconds: float) -> None:
        """Count a piece of work."""
        name = key if key in (COMMIT, "drift") else AGENT
        self._reconciles.labels(self._stack, name, outcome).inc()
        self._seconds.labels(self._stack, name).observe(seconds)
        self._alive.labels(self._stack).set_to_current_time()
        if outcome in _GOOD:
            self._success.labels(self._stack, name).set_to_current_time()
        self._note_conditions()

    def waits(self, blocked: BlockedReason | None) -> None:
        """Take whether the stack is suspended."""
        is_suspended = blocked is not None and blocked.reason == SUSPENDED
        self._suspended.labels(self._stack).set(is_suspended)

    def observed(self, commit: Commit, running: str) -> None:
        """Take the wanted commit."""
        self._note_running(is_running=running == commit.name)
        self._note_conditions()

    def updated(self, commit: Commit, done: str) -> None:
        """It runs."""
        self._note_running(is_running=True)

    def _note_running(self, *, is_running: bool) -> None:
        self._behind.labels(self._stack).set(0 if is_running else 1)
        if is_running:
            self._behind_since = None
        elif self._behind_since is None:
            # A newer commit on top of one that waits does not make the wait shorter.
            self._behind_since = time.monotonic()

    def _seconds_behind(self) -> float:
        since = self._behind_since
        return 0.0 if since is None else time.monotonic() - since

    def conflict_opened(self, field: Field) -> None:
        """Count a conflict."""
        self._conflicts.labels(self._stack).inc()

    def conflicts_are(self, fields: Sequence[Field]) -> None:
        """Take the fields in conflict."""
        self._open.labels(self._stack).set(len(fields))

    def status(self) -> dict[str, Any]:
        """Everything as one document."""
        known = self._conditions
        return {
            "stack": self._stack,
            "isLeader": self._is_leader,
            "wantedCommit": known.wanted or None,
            "commit": known.running or None,
            "isRunning": bool(known.wanted) and known.wanted == known.running,
            "conditions": self._note_conditions(),
        }

    def _note_conditions(self) -> list[dict[str, Any]]:
        """The conditions, with the time at which each of them was first seen to be so."""
        now = utc_now()
        with self._lock:
            self._timed = with_times(self._conditions.now(), self._timed, None, now)
            return self._timed

    def _gauge(self, name: str, *labels: str) -> Gauge:
        return Gauge(name, METRICS[name], ("stack", *labels), registry=self.registry)

    def _counter(self, name: str, *labels: str) -> Counter:
        return Counter(name, METRICS[name], ("stack", *labels), registry=self.registry)
