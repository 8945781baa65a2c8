"""What the operator says of itself: one JSON document a line, the phases of a look under one id."""

import secrets
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from typing import Any, TextIO

import msgspec

from holdfast.manifest.resource_fleet import Place


def utc_now() -> str:
    """Now, as RFC 3339 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Journal:
    """Writes lines; each carries a time, a level and a phase."""

    def __init__(self, stack: str, stream: TextIO | None = None) -> None:
        self._stack = stack
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

    def of_agent(self, place: Place) -> Callable[..., None]:
        """A writer whose lines name one agent and share one id."""
        identifier, (namespace, agent) = next(self._names), place

        def say(phase: str, **details: Any) -> None:  # noqa: ANN401  (plain data)
            self.say(phase, id=identifier, namespace=namespace, agent=agent, **details)

        return say
