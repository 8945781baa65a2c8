"""What a loop says of its work: a line a phase, on standard output."""

import sys
import threading
from datetime import UTC, datetime
from typing import Any

import click

from holdfast.controllers.gitops.loop_log import log_line
from holdfast.controllers.gitops.roles import Log


class LoopProgress:
    """What the operations of a loop say, as lines of its log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def note(self, text: str) -> None:
        """Log a line."""
        self._log("progress", text=text.strip())

    def step(self, text: str) -> None:
        """Log a line."""
        self._log("progress", text=text.strip())


class LoopOutput:
    """Writes lines, from any thread."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()

    def __call__(self, phase: str, **told: Any) -> None:  # noqa: ANN401 - whatever is told
        """Write one line."""
        line = log_line(datetime.now(UTC), phase, told, as_json=self._as_json)
        with self._lock:
            click.echo(line)
            sys.stdout.flush()
