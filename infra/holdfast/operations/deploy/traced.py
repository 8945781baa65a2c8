"""Updates as traces: each step is a span, where the environment asks for traces."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from holdfast import __version__
from holdfast.adapters.tracing.opentelemetry import tracer_of
from holdfast.adapters.tracing.spans import Tracer

if TYPE_CHECKING:
    from holdfast.operations.deploy.request import Order

P = ParamSpec("P")
Done = TypeVar("Done")


class _Traced(Protocol):
    @property
    def tracer(self) -> Tracer:
        """Who records steps."""


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
def traced_order(order: "Order") -> Iterator["Order"]:
    """The order, as a trace of its steps.

    Raises:
        InputError: the environment asks for traces that are not offered.
    """

    def tell(problem: str) -> None:
        order.tell(f"traces: {problem}")

    tracer, _ = tracer_of(os.environ, order.stack.rpartition("/")[2], __version__, tell)
    with closing(tracer), tracer.span(order.action, reason=order.reason) as span:
        if span.trace_id:
            order.tell(f"trace {span.trace_id}")
        yield replace(order, tracer=tracer)
