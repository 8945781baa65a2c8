"""Declared metrics, read from Prometheus now and then: which are past their limits, or back."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from holdfast.adapters.http.prometheus import PrometheusError, query_number
from holdfast.errors import HoldfastError
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.updates import WatchedMetric
from holdfast.operations.deploy.aftermath import past_limit

WITHIN = "is within its limits again"


@dataclass
class MetricLimits:
    """What is known of a stack's metrics."""

    _past: dict[str, str] = field(default_factory=dict)
    _first: dict[str, float] = field(default_factory=dict)
    _unread: dict[str, str] = field(default_factory=dict)

    def look(
        self,
        metrics: Sequence[WatchedMetric],
        read: Callable[[WatchedMetric], float],
        report: Callable[[str, str], None],
    ) -> Iterator[str]:
        """Read every metric; yields `metric/NAME` and what has turned about it.

        An increase counts from the value that was read first.

        Args:
            metrics: Declared by the stack.
            read: Gives the value that a metric has now.
            report: Takes the name of a metric that cannot be read, and why.
        """
        for metric in metrics:
            try:
                value = read(metric)
            except HoldfastError as error:
                if self._unread.get(metric.name) != error.message:
                    report(metric.name, error.message)
                self._unread[metric.name] = error.message
                continue
            self._unread.pop(metric.name, None)
            first = self._first.setdefault(metric.name, value)
            limit = past_limit(metric, value, first)
            was_past = metric.name in self._past
            if limit:
                self._past[metric.name] = limit
            else:
                self._past.pop(metric.name, None)
            if bool(limit) != was_past:
                yield f"metric/{metric.name} {limit or WITHIN}"

    @property
    def past(self) -> tuple[str, ...]:
        """Metrics that are past a limit, by name."""
        return tuple(sorted(self._past))


POLL_SECONDS: Final = 15.0


class MetricWatch:
    """Asks until it is stopped; a Prometheus that is down is reported, and triggers nothing."""

    def __init__(
        self,
        settings: Callable[[], Environment | None],
        ask: Callable[[str], None],
        report: Callable[[str, str], None],
    ) -> None:
        """Prepare to ask.

        Args:
            settings: Of the stack, as they are now; None while they are not known.
            ask: Takes what has turned: the trigger of a comparison.
            report: Takes the name of a metric that cannot be read, and why.
        """
        self._settings, self._ask, self._report = settings, ask, report
        self._limits = MetricLimits()

    def look(self) -> None:
        """Ask for every metric once.

        Raises:
            HoldfastError: the settings cannot be read.
        """
        environment = self._settings()
        if environment is None:
            return

        def read(metric: WatchedMetric) -> float:
            url = environment.updates.prometheus_url or environment.telemetry.prometheus_url
            if url is None:
                raise PrometheusError("no prometheusUrl is set")
            return query_number(url, metric.query)

        for trigger in self._limits.look(environment.updates.metrics, read, self._report):
            self._ask(trigger)

    def run(self, stopping: threading.Event) -> None:
        """Ask now and then until the event is set."""
        problem = ""
        while not stopping.wait(POLL_SECONDS):
            try:
                self.look()
                problem = ""
            except HoldfastError as error:
                if error.message != problem:
                    self._report("settings", error.message)
                problem = error.message
