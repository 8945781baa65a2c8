"""Updates as traces: steps are spans of the order's trace, and nothing changes without one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from holdfast.adapters.tracing.spans import UNTRACED, Fact, Span, Tracer
from holdfast.errors import InputError
from holdfast.operations.deploy.request import Order
from holdfast.operations.deploy.traced import step, traced_order

from tests.trace_collector import collecting

ORDER = Order(Path(), "org/dev", reason="drill", tell=lambda _: None)


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


def test_an_order_is_untraced_where_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    with traced_order(ORDER) as order:
        assert order.tracer is UNTRACED
        assert order == ORDER


def test_an_order_is_a_trace_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        for name, value in collector.variables.items():
            monkeypatch.setenv(name, value)
        with traced_order(ORDER) as order, order.tracer.span("judge"):
            pass
    whole, part = collector.spans
    assert (whole.name, part.name, part.parent) == ("up", "judge", whole.identifier)
    assert whole.attributes == {"holdfast.reason": "drill"}
    assert whole.resource["holdfast.stack"] == "dev"
