"""What is watched after an update, on a simulated clock."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from holdfast.adapters.http.prometheus import PrometheusError, number_of
from holdfast.errors import ClusterError
from holdfast.kube.workload_status import HEALTHY, Health, HealthVerdict
from holdfast.manifest.stack.updates import WatchedMetric
from holdfast.operations.deploy.aftermath import (
    PostUpdateCheck,
    PostUpdateResult,
    excused_agents,
    past_limit,
)

SLOW = HealthVerdict(Health.PROGRESSING, "1 of 2 pods are ready")
LOST = HealthVerdict(Health.DEGRADED, "it does not exist")
LATENCY = WatchedMetric(name="latency", query="q", max=2.0)


class SimulatedClock:
    """Time that passes when the watch sleeps."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


@dataclass(frozen=True)
class Cluster:
    """Health and one metric, as functions of time."""

    clock: SimulatedClock
    read: Callable[[float], HealthVerdict]
    number: Callable[[float], float]

    def health(self) -> dict[str, HealthVerdict]:
        return {"mover": self.read(self.clock.time), "broken": LOST}

    def value(self, _: WatchedMetric) -> float:
        return self.number(self.clock.time)


def watch(
    health: Callable[[float], HealthVerdict],
    metric: Callable[[float], float] = lambda _: 1.0,
    before: float | None = None,
) -> tuple[PostUpdateResult, float]:
    """What a watch of a minute says, and when it has ended; another agent is excused."""
    clock = SimulatedClock()
    cluster = Cluster(clock, health, metric)
    known = {"latency": before} if before is not None else {}
    check = PostUpdateCheck(cluster, cluster, [LATENCY], known, {"broken": "was so before"})
    return check.watch(60.0, clock), clock.time


@pytest.mark.parametrize(
    ("updated", "excused"),
    [
        pytest.param((), {"lost", "slow", "unseen"}, id="another agent's update"),
        pytest.param(("lost",), {"slow", "unseen"}, id="its own update"),
        pytest.param(None, set(), id="an update of which nothing is known"),
    ],
)
def test_an_update_is_blamed_for_what_was_healthy_before_or_is_part_of_it(
    updated: tuple[str, ...] | None, excused: set[str]
) -> None:
    unseen = HealthVerdict(Health.UNKNOWN, "cannot be reached")
    before = {"well": HEALTHY, "lost": LOST, "slow": SLOW, "unseen": unseen}
    found = excused_agents(before, updated)
    assert found.keys() == excused
    assert found.get("slow") in (None, "Progressing: 1 of 2 pods are ready")


def test_an_agent_may_take_its_time_until_the_end() -> None:
    assert watch(lambda now: SLOW if now < 50 else HEALTHY) == (PostUpdateResult(), 60.0)
    found, ended = watch(lambda _: SLOW)
    assert (found.worse, ended) == ("mover: 1 of 2 pods are ready (Progressing)", 60.0)


def test_what_is_degraded_ends_the_watch_at_once() -> None:
    found, ended = watch(lambda now: LOST if now >= 10 else HEALTHY)
    assert (found.worse, ended) == ("mover: it does not exist (Degraded)", 10.0)


def test_a_metric_past_its_limit_ends_it_and_says_the_numbers() -> None:
    found, ended = watch(lambda _: HEALTHY, lambda now: 3.0 if now > 5 else 1.0)
    assert (found.worse, ended) == ("metric latency: 3 is above 2", 6.0)


def test_an_outage_of_the_monitoring_is_reported_and_takes_nothing_back() -> None:
    def metric(_: float) -> float:
        raise PrometheusError("gives no answer")

    def health(_: float) -> HealthVerdict:
        raise ClusterError("cannot be reached")

    found, _ = watch(health, metric)
    assert not found.worse
    assert found.unknown == ("health: cannot be reached", "metric latency: gives no answer")


@pytest.mark.parametrize(
    ("metric", "value", "before", "said"),
    [
        pytest.param({"max": 2}, 2.0, None, "", id="at the limit"),
        pytest.param({"min": 2}, 1.0, None, "1 is below 2", id="below"),
        pytest.param({"maxIncreasePercent": 10}, 11.0, 10.0, "", id="grown as it may"),
        pytest.param(
            {"maxIncreasePercent": 10},
            12.0,
            10.0,
            "12 is more than 10 % above 10, its value before",
            id="grown too much",
        ),
        pytest.param({"maxIncreasePercent": 10}, 99.0, None, "", id="nothing to compare with"),
    ],
)
def test_limits(metric: dict[str, float], value: float, before: float | None, said: str) -> None:
    given = WatchedMetric.model_validate({"name": "a", "query": "q", **metric})
    assert past_limit(given, value, before) == said


@pytest.mark.parametrize(
    ("kind", "result", "said"),
    [
        pytest.param("vector", [], "the query gives 0 numbers", id="nothing"),
        pytest.param("vector", [{"value": [1, "1"]}] * 2, "gives 2 numbers", id="several"),
        pytest.param("vector", [{"value": [1, "NaN"]}], "no number (NaN)", id="not a number"),
        pytest.param("matrix", [], "no number but a matrix", id="a range"),
    ],
)
def test_an_answer_that_is_no_number_is_none(kind: str, result: list[object], said: str) -> None:
    with pytest.raises(PrometheusError) as caught:
        number_of(kind, result)
    assert said in caught.value.message


def test_a_scalar_and_a_vector_of_one_are_numbers() -> None:
    assert number_of("scalar", [1, "2.5"]) == 2.5
    assert number_of("vector", [{"value": [1, "2.5"]}]) == 2.5
