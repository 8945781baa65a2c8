"""Operations as traces: steps are spans of one trace, and nothing changes without one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from holdfast.adapters.tracing.spans import UNTRACED, Fact, Span, Tracer
from holdfast.drift.finding import DriftReport
from holdfast.errors import InputError
from holdfast.operations.progress import SILENT
from holdfast.operations.tracing import note_scan, step, traced_scan, traced_update

from tests.trace_collector import collecting
from tests.unit.operations.noted_progress import NotedProgress


class Noting(Tracer):
    """Knows what was begun and ended."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def span(self, name: str, **facts: Fact) -> Iterator[Span]:
        del facts
        self.told.append(f"{name} begins")
        try:
            yield Span()
        finally:
            self.told.append(f"{name} ends")


@dataclass
class Worker:
    tracer: Noting = field(default_factory=Noting)

    @step("count")
    def count(self, first: int, *, second: int) -> int:
        """Adds."""
        return first + second

    @step("fail")
    def fail(self) -> None:
        raise InputError("no")


def test_a_step_is_a_span_and_does_what_it_did() -> None:
    worker = Worker()
    assert worker.count(1, second=2) == 3
    assert worker.count.__doc__ == "Adds."
    with pytest.raises(InputError):
        worker.fail()
    assert worker.tracer.told == ["count begins", "count ends", "fail begins", "fail ends"]


def test_an_update_is_untraced_where_the_environment_asks_for_no_traces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    progress = NotedProgress()
    with traced_update("up", "org/dev", "drill", progress) as tracer:
        assert tracer is UNTRACED
    assert progress.lines == []


def test_an_update_is_a_trace_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        for name, value in collector.variables.items():
            monkeypatch.setenv(name, value)
        progress = NotedProgress()
        with traced_update("up", "org/dev", "drill", progress) as tracer, tracer.span("judge"):
            pass
    (line,) = progress.lines
    assert line.startswith("trace ")
    whole, part = collector.spans
    assert (whole.name, part.name, part.parent) == ("up", "judge", whole.identifier)
    assert whole.attributes == {"holdfast.reason": "drill"}
    assert whole.resource["holdfast.stack"] == "dev"


def test_a_scan_is_a_trace_that_says_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        for name, value in collector.variables.items():
            monkeypatch.setenv(name, value)
        with traced_scan("org/dev", SILENT) as span:
            note_scan(span, DriftReport((), objects_checked=3))
    (whole,) = collector.spans
    assert (whole.name, whole.resource["holdfast.stack"]) == ("drift", "dev")
    assert whole.attributes == {
        "holdfast.objects": 3,
        "holdfast.findings": 0,
        "holdfast.complete": True,
    }
