"""What the operator says of itself: one JSON document a line, the phases of a look under one id.

A look is a trace, too, where one is asked for; its lines name it.
"""

import secrets
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final, TextIO

import msgspec

from holdfast.adapters.tracing.spans import UNTRACED, Fact, Span, Tracer
from holdfast.manifest.fleet.resource_fleet import Place

TOLD: Final = ("node/", "metric/")
"""Triggers outside of what is declared and of what belongs to an agent."""


def utc_now() -> str:
    """Now, as RFC 3339 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Journal:
    """Writes lines; each carries a time, a level and a phase."""

    def __init__(self, stack: str, tracer: Tracer = UNTRACED, stream: TextIO | None = None) -> None:
        self._stack = stack
        self.tracer = tracer
        self._stream = stream
        self._writing = threading.Lock()
        run = secrets.token_hex(3)
        self._names = (f"{run}-{number}" for number in count(1))

    def say(self, phase: str, *, level: str = "info", **details: Any) -> None:  # noqa: ANN401  (plain data)
        """Write one line; what is empty is left out."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": time, "level": level, "phase": phase, "stack": self._stack}
        line |= {key: value for key, value in details.items() if value not in ("", (), [], None)}
        stream = self._stream or sys.stderr
        with self._writing:
            stream.write(msgspec.json.encode(line).decode() + "\n")
            stream.flush()

    @contextmanager
    def look(self, place: Place, triggers: Sequence[str] = ()) -> Iterator["Look"]:
        """One look at one agent, as long as the block.

        Args:
            place: Of the agent.
            triggers: Why it is looked at.
        """
        identifier, (namespace, agent) = next(self._names), place
        facts = {"id": identifier, "namespace": namespace, "agent": agent}
        with self.tracer.span(
            "reconcile", stack=self._stack, trigger=list(triggers), **facts
        ) as span:
            traced = {"trace_id": span.trace_id} if span.trace_id else {}
            yield Look(self, self.tracer, span, facts | traced, tuple(triggers))


@dataclass(frozen=True)
class Look:
    """One look at one agent, and who is told of it.

    Attributes:
        span: The look as a whole.
        triggers: Why the agent is looked at.
    """

    journal: Journal
    tracer: Tracer
    span: Span
    facts: dict[str, str]
    triggers: tuple[str, ...]

    @property
    def is_told(self) -> bool:
        """Whether the look is told even where it finds nothing to do: its trigger is no change."""
        return any(each.startswith(TOLD) for each in self.triggers)

    def say(self, phase: str, *, level: str = "info", **details: Any) -> None:  # noqa: ANN401  (plain data)
        """Write one line that names the agent and the look."""
        self.journal.say(phase, level=level, **self.facts, **details)

    def phase(self, name: str, **facts: Fact) -> AbstractContextManager[Span]:
        """One phase of the look, as long as the block."""
        return self.tracer.span(name, **facts)
