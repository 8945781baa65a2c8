"""What a controller writes: lines of a log, structured, and the phases of one run under one id.

A run is a trace, too, where one is asked for; its lines name it.
"""

import json
import re
import secrets
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TextIO

import msgspec

from holdfast.adapters.clock import utc_now
from holdfast.adapters.tracing.spans import UNTRACED, Fact, Span, Tracer
from holdfast.errors import HoldfastError
from holdfast.kube.text import safe_text
from holdfast.report.documents.json_text import json_line

_PLAIN: Final = re.compile(r"[^\s\"=]+")
_MOST_CHARACTERS: Final = 500

Log = Callable[..., None]
"""Takes the phase and, by name, its facts; `level` is one of them."""


class Output:
    """Writes whole lines, from any thread, to standard output and standard error.

    Attributes:
        has_colour: Whether standard output shows colour.
    """

    def __init__(
        self,
        *,
        has_colour: bool = False,
        out: TextIO | None = None,
        errors: TextIO | None = None,
    ) -> None:
        self.has_colour = has_colour
        self._out, self._errors = out, errors
        self._writing = threading.Lock()

    def write(self, line: str) -> None:
        """Write a line of the result."""
        self._write(self._out or sys.stdout, line)

    def note(self, line: str) -> None:
        """Write a line beside the result."""
        self._write(self._errors or sys.stderr, line)

    def _write(self, stream: TextIO, line: str) -> None:
        with self._writing:
            stream.write(f"{line}\n")
            stream.flush()


class Logger:
    """Writes a line a phase: `time=... phase=... key=value`, or a JSON document."""

    def __init__(
        self, write: Callable[[str], None], *, as_json: bool, facts: Mapping[str, Any] | None = None
    ) -> None:
        """Prepare.

        Args:
            write: Takes each line.
            as_json: Whether lines are JSON documents, with their level.
            facts: Part of every line.
        """
        self._write, self._as_json, self._facts = write, as_json, dict(facts or {})

    def __call__(self, phase: str, *, level: str = "info", **facts: Any) -> None:  # noqa: ANN401  (plain data)
        """Write one line; what is empty is left out."""
        leading = {"time": utc_now("milliseconds"), "level": level, "phase": phase}
        if level == "info" and not self._as_json:
            del leading["level"]
        shown = {key: value for key, value in facts.items() if value not in ("", (), [], None)}
        line = {**leading, **self._facts, **shown}
        self._write(json_line(line) if self._as_json else _as_text(line))


class LogProgress:
    """Progress of operations, as lines of a log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def note(self, text: str) -> None:
        """Log a line."""
        self._log("progress", text=text.strip())

    def step(self, text: str) -> None:
        """Log a line."""
        self._log("progress", text=text.strip())


def _as_text(line: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_shown(value)}" for name, value in line.items())


def _shown(value: Any) -> str:  # noqa: ANN401  (plain data)
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = safe_text(text, _MOST_CHARACTERS)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def run_ids() -> Iterator[str]:
    """Names of runs that no other process gives: `3f9a01-1`, `3f9a01-2`, ..."""
    process = secrets.token_hex(3)
    return (f"{process}-{number}" for number in count(1))


@dataclass(frozen=True)
class LoggedRun:
    """One run: a piece of work on one key.

    Attributes:
        span: The run as a whole.
        triggers: Why it was asked for.
        facts: Part of every line: its id, its key, its trace.
    """

    write: Log
    tracer: Tracer
    span: Span
    triggers: tuple[str, ...]
    facts: Mapping[str, str]

    def log(self, phase: str, *, level: str = "info", **facts: Any) -> None:  # noqa: ANN401  (plain data)
        """Write one line that names the run."""
        self.write(phase, level=level, **self.facts, **facts)

    def observed(self, **facts: Any) -> None:  # noqa: ANN401  (plain data)
        """Log what there is, and why the run was asked for."""
        self.log("observe", **facts, trigger=", ".join(self.triggers))

    def phase(self, name: str, **facts: Fact) -> AbstractContextManager[Span]:
        """One phase, as long as the block."""
        return self.tracer.span(name, **facts)

    def fail(self, error: HoldfastError) -> None:
        """Log why it came to nothing."""
        self.log("error", level="error", error=str(error))
        self.span.fail(str(error))


class Runs:
    """Begins runs, each with an id of its own."""

    def __init__(self, log: Log, tracer: Tracer = UNTRACED, **traced: str) -> None:
        """Prepare.

        Args:
            log: Takes the lines.
            tracer: Takes the traces.
            traced: Attributes of every trace beside its run.
        """
        self._log, self._tracer, self._traced = log, tracer, traced
        self._ids = run_ids()

    @contextmanager
    def begin(self, triggers: Sequence[str], **facts: str) -> Iterator[LoggedRun]:
        """One run, as long as the block.

        Args:
            triggers: Why it was asked for.
            facts: What names it, in lines and trace.
        """
        named = {"id": next(self._ids), **facts}
        with self._tracer.span(
            "reconcile", trigger=list(triggers), **self._traced, **named
        ) as span:
            trace = {"trace_id": span.trace_id} if span.trace_id else {}
            yield LoggedRun(self._log, self._tracer, span, tuple(triggers), named | trace)
