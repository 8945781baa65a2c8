"""Declared metrics asked of Prometheus now and then."""

import threading
from collections.abc import Callable
from typing import Final

from holdfast.adapters.http.prometheus import PrometheusError, query_number
from holdfast.controllers.gitops.metric_limits import MetricLimits
from holdfast.errors import HoldfastError
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.updates import WatchedMetric

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
