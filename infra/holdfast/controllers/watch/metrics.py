"""What a watch counts, for Prometheus."""

import time
from collections import Counter as Tally
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    write_to_textfile,
)

from holdfast.drift.finding import DriftClass, Finding, Severity
from holdfast.drift.record.ledger import Timestamp, Transition
from holdfast.drift.record.watch_report import Evaluation, Listener, Reading, Status, WatchState
from holdfast.errors import InputError
from holdfast.report.exchange.prometheus import METRICS

_SECONDS: Final = (0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_FILE_SECONDS: Final = 5.0
"""A file is written no more often than that: collectors read it about four times a minute."""


class DriftMetrics(Listener):
    """Listens to a watch and counts."""

    def __init__(self, stack: str) -> None:
        self._stack = stack
        self.registry = CollectorRegistry()
        self._objects = self._gauge("holdfast_drift_objects")
        self._findings = self._gauge("holdfast_drift_findings", "class", "severity")
        self._age = self._gauge("holdfast_drift_oldest_finding_age_seconds", "severity")
        self._complete = self._gauge("holdfast_drift_complete")
        self._success = self._gauge("holdfast_drift_last_success_timestamp_seconds")
        self._evaluations = self._counter("holdfast_drift_evaluations_total")
        self._detection = self._histogram("holdfast_drift_detection_seconds")
        self._scanned = self._counter("holdfast_drift_scanned_objects_total")
        self._scan = self._histogram("holdfast_drift_scan_seconds")
        self._transitions = self._counter("holdfast_drift_finding_transitions_total", "transition")
        self._restarts = self._counter("holdfast_drift_watch_restarts_total", "kind")
        self._deliveries = self._counter("holdfast_drift_webhook_deliveries_total", "outcome")
        for turn in Transition:
            self._transitions.labels(stack, turn.value)
        for gauge in (self._evaluations, self._scanned, self._complete):
            gauge.labels(stack)

    def evaluated(self, evaluation: Evaluation) -> None:
        """Count one evaluation."""
        self._evaluations.labels(self._stack).inc()
        self._detection.labels(self._stack).observe(
            evaluation.finished_at.seconds - evaluation.first_event_at.seconds
        )
        for event in evaluation.events:
            self._transitions.labels(self._stack, event.transition.value).inc()

    def read(self, reading: Reading) -> None:
        """Count one reading."""
        self._scanned.labels(self._stack).inc(reading.objects)
        self._scan.labels(self._stack).observe(reading.seconds)

    def restarted(self, kind: str, reason: str) -> None:
        """Count one restart."""
        self._restarts.labels(self._stack, kind).inc()

    def status_changed(
        self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]
    ) -> None:
        """Take the state as it is now."""
        self._objects.labels(self._stack).set(state.objects)
        is_complete = state.status is not Status.UNKNOWN
        self._complete.labels(self._stack).set(is_complete)
        if is_complete:
            self._success.labels(self._stack).set(time.time())
        tally = Tally((finding.drift_class, finding.severity) for finding, _ in open_findings)
        for drift_class in DriftClass:
            for severity in Severity:
                labels = (self._stack, drift_class.value, severity.value)
                self._findings.labels(*labels).set(tally[drift_class, severity])
        now = time.monotonic()
        for severity in Severity:
            opened = [at.seconds for finding, at in open_findings if finding.severity is severity]
            self._age.labels(self._stack, severity.value).set(now - min(opened, default=now))

    def count_delivery(self, outcome: str) -> None:
        """Count one event that the webhook took, or that was lost."""
        self._deliveries.labels(self._stack, outcome).inc()

    def _gauge(self, name: str, *labels: str) -> Gauge:
        return Gauge(name, METRICS[name], ("stack", *labels), registry=self.registry)

    def _counter(self, name: str, *labels: str) -> Counter:
        return Counter(name, METRICS[name], ("stack", *labels), registry=self.registry)

    def _histogram(self, name: str) -> Histogram:
        return Histogram(name, METRICS[name], ("stack",), registry=self.registry, buckets=_SECONDS)


class MetricsFile:
    """Writes metrics to a file for a collector of text files, whole or not at all."""

    def __init__(self, metrics: DriftMetrics, file: Path) -> None:
        """Write it once.

        Raises:
            InputError: it cannot be written.
        """
        self._metrics = metrics
        self._file = file
        self._next = 0.0
        self.write()

    def write(self) -> None:
        """Write it now."""
        try:
            write_to_textfile(str(self._file), self._metrics.registry)
        except OSError as error:
            raise InputError(f"--metrics {self._file}: {error.strerror}") from error
        self._next = time.monotonic() + _FILE_SECONDS

    def write_if_due(self) -> None:
        """Write it when the last time is long enough ago."""
        if time.monotonic() >= self._next:
            self.write()
