"""What a reconciler has come to: counted for Prometheus, told as conditions. Pure but for a clock.

Source: Prometheus, "Metric and label naming"; Kubernetes API conventions, "Typical status
properties".
"""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from holdfast.git.source import Commit
from holdfast.reconcile.reconciler import COMMIT, Field, Listener

METRICS: Final = {
    "holdfast_reconciles_total": "Pieces of work done, by key and outcome.",
    "holdfast_reconcile_seconds": "How long a piece of work took, by key.",
    "holdfast_fights_total": "Fields that somebody else kept writing until we gave in.",
    "holdfast_fights_open": "Fields that are only reported now, because they are fought over.",
    "holdfast_reconcile_last_success_timestamp_seconds": "When work last ended well, by key.",
    "holdfast_reconcile_behind": "1 while the wanted commit does not run, else 0.",
    "holdfast_reconcile_alive_timestamp_seconds": "When the loop last ended a piece of work.",
}
"""Name to meaning; every metric has the label `stack`."""

_GOOD: Final = frozenset({"succeeded", "unchanged"})
_SECONDS: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
AGENT: Final = "agent"


class LoopState(Listener):
    """Listens to a reconciler; read from other threads."""

    def __init__(self, stack: str) -> None:
        self._stack = stack
        self._lock = threading.Lock()
        self.registry = CollectorRegistry()
        self._reconciles = self._counter("holdfast_reconciles_total", "key", "outcome")
        self._fights = self._counter("holdfast_fights_total")
        self._open = self._gauge("holdfast_fights_open")
        self._success = self._gauge("holdfast_reconcile_last_success_timestamp_seconds", "key")
        self._behind = self._gauge("holdfast_reconcile_behind")
        self._alive = self._gauge("holdfast_reconcile_alive_timestamp_seconds")
        self._seconds = Histogram(
            "holdfast_reconcile_seconds",
            METRICS["holdfast_reconcile_seconds"],
            ("stack", "key"),
            registry=self.registry,
            buckets=_SECONDS,
        )
        for metric in (self._fights, self._open, self._behind, self._alive):
            metric.labels(stack)
        self._wanted: Commit | None = None
        self._is_running = False
        self._conditions: dict[str, dict[str, str]] = {}

    def reconciled(self, key: str, outcome: str, seconds: float) -> None:
        """Count a piece of work."""
        name = key if key in (COMMIT, "drift") else AGENT
        self._reconciles.labels(self._stack, name, outcome).inc()
        self._seconds.labels(self._stack, name).observe(seconds)
        self._alive.labels(self._stack).set_to_current_time()
        if outcome in _GOOD:
            self._success.labels(self._stack, name).set_to_current_time()
        if name == COMMIT and outcome != "waiting":
            is_good = outcome in _GOOD
            self._is_running = self._is_running or outcome == "succeeded"
            self._behind.labels(self._stack).set(0 if self._is_running else 1)
            reason = {"failed": "UpdateFailed", "rejected": "CommitRejected"}.get(outcome, "")
            self._condition("Synced", is_good and self._is_running, reason or "Behind", "AtCommit")

    def observed(self, commit: Commit, *, is_running: bool) -> None:
        """Take the wanted commit."""
        self._wanted, self._is_running = commit, is_running
        self._behind.labels(self._stack).set(0 if is_running else 1)

    def fought(self, field: Field) -> None:
        """Count a fight."""
        self._fights.labels(self._stack).inc()

    def fights_are(self, fields: Sequence[Field]) -> None:
        """Take what is fought over."""
        self._open.labels(self._stack).set(len(fields))
        message = "; ".join(f"{name} {path}" for name, path in fields)
        self._condition("Stable", not fields, "Fighting", "NoFights", message)

    def status(self) -> dict[str, Any]:
        """Everything as one document."""
        with self._lock:
            conditions = [dict(each) for each in self._conditions.values()]
        return {
            "stack": self._stack,
            "wantedCommit": self._wanted.name if self._wanted else None,
            "isRunning": self._is_running,
            "conditions": conditions,
        }

    def metrics(self) -> bytes:
        """Everything for Prometheus."""
        return bytes(generate_latest(self.registry))

    def _condition(self, kind: str, holds: bool, bad: str, good: str, message: str = "") -> None:
        status = "True" if holds else "False"
        with self._lock:
            known = self._conditions.get(kind, {})
            since = known.get("lastTransitionTime", "")
            if known.get("status") != status:
                since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            self._conditions[kind] = {
                "type": kind,
                "status": status,
                "reason": good if holds else bad,
                "message": message,
                "lastTransitionTime": since,
            }

    def _gauge(self, name: str, *labels: str) -> Gauge:
        return Gauge(name, METRICS[name], ("stack", *labels), registry=self.registry)

    def _counter(self, name: str, *labels: str) -> Counter:
        return Counter(name, METRICS[name], ("stack", *labels), registry=self.registry)
