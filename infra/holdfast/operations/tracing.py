"""Operations as traces: each step is a span, where the environment asks for traces."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from holdfast import __version__
from holdfast.adapters.tracing.opentelemetry import tracer_of
from holdfast.adapters.tracing.spans import Span, Tracer
from holdfast.drift.finding import DriftReport
from holdfast.operations.progress import Progress

P = ParamSpec("P")
Done = TypeVar("Done")


class _Traced(Protocol):
    @property
    def tracer(self) -> Tracer:
        """Records steps."""


Owner = TypeVar("Owner", bound=_Traced)


def step(
    name: str,
) -> Callable[[Callable[Concatenate[Owner, P], Done]], Callable[Concatenate[Owner, P], Done]]:
    """Make a method a span of its owner's trace."""

    def decorate(
        method: Callable[Concatenate[Owner, P], Done],
    ) -> Callable[Concatenate[Owner, P], Done]:
        @wraps(method)
        def traced(owner: Owner, /, *arguments: P.args, **named: P.kwargs) -> Done:
            with owner.tracer.span(name):
                return method(owner, *arguments, **named)

        return traced

    return decorate


@contextmanager
def traced_update(action: str, stack: str, reason: str, progress: Progress) -> Iterator[Tracer]:
    """One update as a trace; gives what records its steps.

    Raises:
        InputError: the environment asks for traces that are not offered.
    """
    with _tracer(stack, progress) as tracer, tracer.span(action, reason=reason) as span:
        _announce(span, progress)
        yield tracer


@contextmanager
def traced_scan(stack: str, progress: Progress) -> Iterator[Span]:
    """One scan as a trace.

    Raises:
        InputError: the environment asks for traces that are not offered.
    """
    with _tracer(stack, progress) as tracer, tracer.span("drift") as span:
        _announce(span, progress)
        yield span


def note_scan(span: Span, report: DriftReport) -> None:
    """Note in its trace what a scan has found."""
    span.note(
        objects=report.objects_checked or 0,
        findings=len(report.drift),
        complete=report.is_complete,
    )


@contextmanager
def _tracer(stack: str, progress: Progress) -> Iterator[Tracer]:
    def note(problem: str) -> None:
        progress.note(f"traces: {problem}")

    tracer, _ = tracer_of(os.environ, stack.rpartition("/")[2], __version__, note)
    with closing(tracer):
        yield tracer


def _announce(span: Span, progress: Progress) -> None:
    if span.trace_id:
        progress.note(f"trace {span.trace_id}")
