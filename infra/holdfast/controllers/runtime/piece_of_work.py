"""One piece of work of a reconciler: told phase by phase under one id, and traced."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from holdfast.adapters.tracing.spans import Fact, Span, Tracer
from holdfast.controllers.gitops.roles import Log
from holdfast.errors import HoldfastError


@dataclass(frozen=True)
class Work:
    """One piece of work, and who is told of it.

    Attributes:
        key: Of the work.
        triggers: Why it is done, as far as somebody said.
        span: The work as a whole.
    """

    key: str
    triggers: tuple[str, ...]
    span: Span
    tracer: Tracer
    identifier: str
    to_log: Log

    def log(self, phase: str, **told: Any) -> None:  # noqa: ANN401 - whatever is told
        """Tell one phase."""
        traced = {"trace_id": self.span.trace_id} if self.span.trace_id else {}
        self.to_log(phase, id=self.identifier, key=self.key, **traced, **told)

    def observed(self, **told: Any) -> None:  # noqa: ANN401 - whatever is told
        """Tell what there is, and why somebody looked."""
        why = {"trigger": ", ".join(self.triggers)} if self.triggers else {}
        self.log("observe", **told, **why)

    def phase(self, name: str, **facts: Fact) -> AbstractContextManager[Span]:
        """One phase, as long as the block."""
        return self.tracer.span(name, **facts)

    def fail(self, error: HoldfastError) -> None:
        """Tell why it came to nothing."""
        self.log("error", error=str(error))
        self.span.fail(str(error))
