"""Declared metrics, asked now and then: which have come past their limits, and which are back.

Pure but for the reader. Law: a turn is reported once; a metric that cannot be read keeps its last
state, and that it cannot be read is reported once, too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.errors import HoldfastError
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
