"""Declared metrics: what has come past a limit is told once, and what cannot be read is no turn."""

import pytest
from holdfast.adapters.http.prometheus import PrometheusError
from holdfast.controllers.runtime import metric_watch
from holdfast.controllers.runtime.metric_watch import MetricLimits, MetricWatch
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.updates import WatchedMetric

ERRORS = WatchedMetric(name="errors", query="e", max=0.05)
LATENCY = WatchedMetric(name="latency", query="l", max_increase_percent=50)


def test_a_limit_is_reported_when_it_is_passed_and_when_it_is_kept_again() -> None:
    limits = MetricLimits()

    def look(errors: float, latency: float) -> list[str]:
        values = {"errors": errors, "latency": latency}
        found = limits.look((ERRORS, LATENCY), lambda metric: values[metric.name], lambda *_: None)
        return list(found)

    assert look(0.01, 2.0) == []
    assert look(0.9, 2.9) == ["metric/errors 0.9 is above 0.05"]
    assert look(0.8, 3.1) == ["metric/latency 3.1 is more than 50 % above 2, its value before"]
    assert limits.past == ("errors", "latency")
    assert look(0.05, 2.0) == [
        "metric/errors is within its limits again",
        "metric/latency is within its limits again",
    ]


def test_what_cannot_be_read_is_reported_once_and_turns_nothing() -> None:
    limits, told = MetricLimits(), list[tuple[str, str]]()
    values: list[float | None] = [0.9, None, None, 0.9, None]

    def read(_: WatchedMetric) -> float:
        value = values.pop(0)
        if value is None:
            raise PrometheusError("no answer")
        return value

    turns = [
        list(limits.look((ERRORS,), read, lambda name, why: told.append((name, why))))
        for _ in range(5)
    ]
    assert turns == [["metric/errors 0.9 is above 0.05"], [], [], [], []]
    assert told == [("errors", "no answer")] * 2


def test_the_watch_asks_where_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, turns = list[tuple[str, str]](), list[str]()

    def query_number(url: str, query: str) -> float:
        asked.append((url, query))
        return 1.0

    monkeypatch.setattr(metric_watch, "query_number", query_number)
    updates = {"watchSeconds": 5, "metrics": [{"name": "errors", "query": "e", "max": 0.5}]}
    environment = Environment.model_validate(
        {"updates": {**updates, "prometheusUrl": "http://prometheus.example"}}
    )
    known: list[Environment | None] = [environment, Environment(), None]
    watch = MetricWatch(known.pop, turns.append, lambda *_: None)
    for _ in range(3):
        watch.look()
    assert asked == [("http://prometheus.example", "e")]
    assert turns == ["metric/errors 1 is above 0.5"]
