"""What the operator counts, for Prometheus: one table of names, beside those of the watch.

Source: Prometheus documentation, "Metric and label naming".
"""

import time
from collections import Counter as Tally
from collections.abc import Iterable
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from holdfast.controllers.watch.metrics import DriftMetrics
from holdfast.manifest.publish.resource_interface import PHASES

OPERATOR_METRICS: Final = {
    "holdfast_operator_agents": "Agents, by phase.",
    "holdfast_operator_reconciles_total": "Times an agent was reconciled, by what was done.",
    "holdfast_operator_reconcile_errors_total": "Times that ended in an error.",
    "holdfast_operator_reconcile_seconds": "How long it took to reconcile an agent.",
    "holdfast_operator_queue_length": "Agents that wait to be reconciled.",
    "holdfast_operator_writes_total": "Requests that changed something, by what they wrote.",
    "holdfast_operator_requests_total": "Requests to the API server: reads, writes and streams.",
    "holdfast_operator_leader": "1 while this one may write, else 0.",
    "holdfast_operator_start_timestamp_seconds": "When this one began: restarts are visible.",
    "holdfast_operator_last_loop_timestamp_seconds": "When the loop last went round: alive.",
    "holdfast_operator_last_success_timestamp_seconds": "When reconciling last succeeded.",
    "holdfast_conflicts_total": "Fields no longer reverted: other clients kept writing them.",
    "holdfast_conflicts_open": "Fields that are only reported: other clients keep writing them.",
}
"""Name to meaning; every metric has the label `stack`."""

_SECONDS: Final = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 20.0)


class OperatorMetrics:
    """Counts; drift is counted as the watch does."""

    def __init__(self, stack: str) -> None:
        self.drift = DriftMetrics(stack)
        self.registry = self.drift.registry
        self._stack = stack
        self._agents = self._gauge("holdfast_operator_agents", "phase")
        self._reconciles = self._counter("holdfast_operator_reconciles_total", "action")
        self._errors = self._counter("holdfast_operator_reconcile_errors_total")
        self._seconds = Histogram(
            "holdfast_operator_reconcile_seconds",
            OPERATOR_METRICS["holdfast_operator_reconcile_seconds"],
            ("stack",),
            registry=self.registry,
            buckets=_SECONDS,
        )
        self._queue = self._gauge("holdfast_operator_queue_length")
        self._writes = self._counter("holdfast_operator_writes_total", "what")
        self._requests = self._counter("holdfast_operator_requests_total")
        self._sent = 0
        self._leader = self._gauge("holdfast_operator_leader")
        self._gauge("holdfast_operator_start_timestamp_seconds").labels(stack).set(time.time())
        self._loop = self._gauge("holdfast_operator_last_loop_timestamp_seconds")
        self._success = self._gauge("holdfast_operator_last_success_timestamp_seconds")
        self._conflicts = self._counter("holdfast_conflicts_total")
        self._open_conflicts = self._gauge("holdfast_conflicts_open")
        for metric in (
            self._requests,
            self._errors,
            self._leader,
            self._conflicts,
            self._open_conflicts,
            self._queue,
        ):
            metric.labels(stack)

    def count_reconcile(self, action: str, seconds: float, *, failed: bool) -> None:
        """Count one time an agent was reconciled."""
        self._reconciles.labels(self._stack, action).inc()
        self._seconds.labels(self._stack).observe(seconds)
        if failed:
            self._errors.labels(self._stack).inc()
        else:
            self._success.labels(self._stack).set(time.time())

    def count_failure(self) -> None:
        """Count an error beside these: a defect, or a change that cannot be taken."""
        self._errors.labels(self._stack).inc()

    def count_write(self, what: str) -> None:
        """Count one write: apply, patch, delete, status, event, finalizer."""
        self._writes.labels(self._stack, what).inc()

    def note_sent(self, requests: int) -> None:
        """How many requests were sent since the start."""
        self._requests.labels(self._stack).inc(requests - self._sent)
        self._sent = requests

    def count_conflict(self) -> None:
        """Count one breaker that opened."""
        self._conflicts.labels(self._stack).inc()

    def note_turn(self, phases: Iterable[str], waiting: int, conflicts: int) -> None:
        """The loop went round."""
        tally = Tally(phases)
        for phase in PHASES:
            self._agents.labels(self._stack, phase).set(tally[phase])
        self._queue.labels(self._stack).set(waiting)
        self._open_conflicts.labels(self._stack).set(conflicts)
        self._loop.labels(self._stack).set(time.time())

    def set_leader(self, *, is_leader: bool) -> None:
        """Whether this one may write."""
        self._leader.labels(self._stack).set(is_leader)

    def _gauge(self, name: str, *labels: str) -> Gauge:
        return Gauge(name, OPERATOR_METRICS[name], ("stack", *labels), registry=self.registry)

    def _counter(self, name: str, *labels: str) -> Counter:
        return Counter(name, OPERATOR_METRICS[name], ("stack", *labels), registry=self.registry)
