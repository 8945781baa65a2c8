"""`holdfast drift watch` under test: a process, the lines it prints, and waiting for one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
from holdfast.report.documents.drift_event import drift_event_schema

WAIT_SECONDS = 40.0


@dataclass
class Watching:
    """A watch under way.

    Attributes:
        lines: Every JSON document it printed, with the monotonic time of its arrival.
        log: Every line of its standard error.
    """

    process: "subprocess.Popen[str]"
    lines: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    _news: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(
        self, matches: Callable[[dict[str, Any]], bool], since: float = 0.0
    ) -> dict[str, Any]:
        """The first document that matches, and arrived after a monotonic time."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._news:
            while True:
                for at, document in self.lines:
                    if at >= since and matches(document):
                        return document
                left = deadline - time.monotonic()
                ended = self.process.poll() is not None
                assert left > 0, f"nothing came; so far: {self.lines}\n{self.log}"
                assert not ended, f"it ended: {self.lines}\n{self.log}"
                self._news.wait(min(left, 0.5))

    def wait_for_status(self, status: str, since: float = 0.0) -> dict[str, Any]:
        """The first such state."""
        return self.wait_for(lambda one: one["type"] == "state" and one["status"] == status, since)

    def wait_for_turn(self, turn: str, name: str, since: float = 0.0) -> dict[str, Any]:
        """The first turn of a finding about an object."""
        return self.wait_for(
            lambda one: (
                one["type"] == f"finding.{turn}" and one["finding"]["object"]["name"] == name
            ),
            since,
        )

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """All documents of a type."""
        return [document for _, document in self.lines if document["type"] == kind]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All turns of findings, in order."""
        return [document for _, document in self.lines if document["type"].startswith("finding")]

    @property
    def statuses(self) -> list[str]:
        """All states, in order."""
        return [document["status"] for document in self.of_type("state")]

    def end(self, number: int = signal.SIGTERM) -> int:
        """Tell it to end; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(WAIT_SECONDS)

    def read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append((time.monotonic(), json.loads(line)))
                self._news.notify_all()

    def read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.rstrip())


@contextmanager
def watching(
    *arguments: str, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> Iterator[Watching]:
    """Run `holdfast drift watch -o json` until the end of the block.

    Everything that it prints keeps the published schema.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", "drift", "watch", "-o", "json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | dict(variables or {}),
    )
    watch = Watching(process)
    readers = [threading.Thread(target=work) for work in (watch.read_output, watch.read_log)]
    for reader in readers:
        reader.start()
    try:
        yield watch
    finally:
        watch.end()
        for reader in readers:
            reader.join()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
    published = jsonschema.Draft202012Validator(drift_event_schema())
    for _, document in watch.lines:
        published.validate(document)
