"""What is watched after an update, and when it has made things worse. Pure.

Laws: an agent that is degraded, or a metric past its limit, ends the watch at once; at its end
every agent must be healthy; a metric that cannot be read is told and never the reason to go back,
for an outage of the monitoring is none of the update.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.errors import HoldfastError
from holdfast.kube.workload_status import Health, HealthVerdict, worst
from holdfast.manifest.stack.updates import WatchedMetric

LOOK_SECONDS: Final = 2.0

ReadHealth = Callable[[], Mapping[str, HealthVerdict]]
ReadMetric = Callable[[WatchedMetric], float]


@dataclass(frozen=True)
class Clock:
    """Time, as the watch sees it; a test has one of its own."""

    now: Callable[[], float]
    sleep: Callable[[float], None]


@dataclass(frozen=True)
class Aftermath:
    """What came of an update.

    Attributes:
        worse: What got worse; empty when nothing did.
        unknown: What could not be watched to the end.
    """

    worse: str = ""
    unknown: tuple[str, ...] = ()


@dataclass
class Watched:
    """Watches health and metrics for a while.

    Attributes:
        before: Metric to its value before the update, where that was known.
    """

    read_health: ReadHealth
    read_metric: ReadMetric
    metrics: Sequence[WatchedMetric]
    before: Mapping[str, float]

    def watch(self, seconds: float, clock: Clock) -> Aftermath:
        """Look now and then for a number of seconds, at least once."""
        end = clock.now() + seconds
        while True:
            is_last = clock.now() >= end
            unknown: list[str] = []
            if worse := next(self._worse(unknown, is_last=is_last), ""):
                return Aftermath(worse, tuple(unknown))
            if is_last:
                return Aftermath(unknown=tuple(unknown))
            clock.sleep(min(LOOK_SECONDS, max(0.1, end - clock.now())))

    def _worse(self, unknown: list[str], *, is_last: bool) -> Iterator[str]:
        try:
            found = worst(self.read_health())
        except HoldfastError as error:
            unknown.append(f"health: {error.message}")
            found = worst({})
        if found.health is Health.DEGRADED or (is_last and found.health is Health.PROGRESSING):
            yield f"{found.reason} ({found.health.value})"
        elif found.health is Health.UNKNOWN:
            unknown.append(f"health: {found.reason}")
        for metric in self.metrics:
            try:
                value = self.read_metric(metric)
            except HoldfastError as error:
                unknown.append(f"metric {metric.name}: {error.message}")
                continue
            if past := past_limit(metric, value, self.before.get(metric.name)):
                yield f"metric {metric.name}: {past}"


def past_limit(metric: WatchedMetric, value: float, before: float | None) -> str:
    """Which limit a value is past, in words; empty when it is within all of them."""
    if metric.max is not None and value > metric.max:
        return f"{value:g} is above {metric.max:g}"
    if metric.min is not None and value < metric.min:
        return f"{value:g} is below {metric.min:g}"
    share = metric.max_increase_percent
    if share is not None and before is not None and value > before + abs(before) * share / 100:
        return f"{value:g} is more than {share:g} % above {before:g}, its value before"
    return ""
