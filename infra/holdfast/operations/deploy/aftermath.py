"""What is watched after an update, and when it has made things worse. Pure.

Laws: an agent that is degraded, or a metric past its limit, ends the watch at once; at its end
every agent must be healthy; an agent that was not healthy before and of which nothing was updated
says nothing about the update; a metric that cannot be read is noted and never the reason to roll
back, for an outage of the monitoring is none of the update.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from holdfast.errors import HoldfastError
from holdfast.kube.workload_status import Health, HealthVerdict, worst
from holdfast.manifest.stack.updates import WatchedMetric

LOOK_SECONDS: Final = 2.0


class Clock(Protocol):
    """Time, as the watch sees it; a test has one of its own."""

    def now(self) -> float:
        """Seconds since some moment."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


class HealthSource(Protocol):
    """Reads how the agents of a stack are."""

    def health(self) -> Mapping[str, HealthVerdict]:
        """Agent to its health now; raises a HoldfastError where it cannot be read."""


class MetricSource(Protocol):
    """Reads metrics."""

    def value(self, metric: WatchedMetric) -> float:
        """The value now; raises a HoldfastError where it cannot be read."""


@dataclass(frozen=True)
class PostUpdateResult:
    """What came of an update.

    Attributes:
        worse: What got worse; empty when nothing did.
        unknown: What could not be watched to the end.
    """

    worse: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class PostUpdateCheck:
    """Watches health and metrics for a while.

    Attributes:
        before: Metric to its value before the update, where that was known.
        excused: Agents whose health says nothing about the update, and why.
    """

    health: HealthSource
    values: MetricSource
    metrics: Sequence[WatchedMetric] = ()
    before: Mapping[str, float] = field(default_factory=dict)
    excused: Mapping[str, str] = field(default_factory=dict)

    def watch(self, seconds: float, clock: Clock) -> PostUpdateResult:
        """Check now and then for a number of seconds, at least once."""
        end = clock.now() + seconds
        while True:
            is_last = clock.now() >= end
            unknown: list[str] = []
            if worse := next(self._worse(unknown, is_last=is_last), ""):
                return PostUpdateResult(worse, tuple(unknown))
            if is_last:
                return PostUpdateResult(unknown=tuple(unknown))
            clock.sleep(min(LOOK_SECONDS, max(0.1, end - clock.now())))

    def _worse(self, unknown: list[str], *, is_last: bool) -> Iterator[str]:
        try:
            verdicts = self.health.health()
        except HoldfastError as error:
            unknown.append(f"health: {error.message}")
            verdicts = {}
        found = worst({name: each for name, each in verdicts.items() if name not in self.excused})
        if found.health is Health.DEGRADED or (is_last and found.health is Health.PROGRESSING):
            yield f"{found.reason} ({found.health.value})"
        elif found.health is Health.UNKNOWN:
            unknown.append(f"health: {found.reason}")
        for metric in self.metrics:
            try:
                value = self.values.value(metric)
            except HoldfastError as error:
                unknown.append(f"metric {metric.name}: {error.message}")
                continue
            if past := past_limit(metric, value, self.before.get(metric.name)):
                yield f"metric {metric.name}: {past}"


def excused_agents(
    before: Mapping[str, HealthVerdict], updated: Collection[str] | None
) -> dict[str, str]:
    """Agents for which the update is not to blame, and what was wrong with them before it.

    Args:
        before: Agent to its health before the update.
        updated: Agents of which something is updated; None where that is not known.
    """
    if updated is None:
        return {}
    return {
        name: f"{each.health.value}: {each.reason}"
        for name, each in before.items()
        if not each.is_healthy and name not in updated
    }


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
