"""A scan as a trace, where the environment asks for traces."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from holdfast import __version__
from holdfast.adapters.tracing.opentelemetry import tracer_of
from holdfast.adapters.tracing.spans import Span
from holdfast.operations.progress import Progress


@contextmanager
def traced_scan(stack: str, progress: Progress) -> Iterator[Span]:
    """One scan as a trace.

    Raises:
        InputError: the environment asks for traces that are not offered.
    """

    def note(problem: str) -> None:
        progress.step(f"traces: {problem}")

    tracer, _ = tracer_of(os.environ, stack.rpartition("/")[2], __version__, note)
    with closing(tracer), tracer.span("drift") as span:
        if span.trace_id:
            progress.step(f"trace {span.trace_id}")
        yield span
