"""A loop that runs beside a test, told by the lines that it says."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.git_project import GitProject

DEADLINE_SECONDS = 240.0


@dataclass
class Loop:
    """A running `holdfast gitops run`, and everything it has said."""

    process: "subprocess.Popen[str]"
    said: list[dict[str, Any]] = field(default_factory=list)
    reader: threading.Thread = field(default_factory=threading.Thread)

    @classmethod
    def start(
        cls,
        project: GitProject,
        repository: Path,
        *options: str,
        variables: Mapping[str, str] | None = None,
    ) -> "Loop":
        """Start it; its lines are read from a thread."""
        command = [
            sys.executable,
            "-m",
            "holdfast.cli.main",
            "gitops",
            "run",
            "-s",
            "dev",
            "-o",
            "json",
        ]
        process = subprocess.Popen(
            [*command, "--repo", str(repository), "--listen", "127.0.0.1:0", *options],
            cwd="/",
            env=os.environ
            | {"HOLDFAST_STATE": str(project.project.sandbox.state)}
            | dict(variables or {}),
            stdout=subprocess.PIPE,
            stderr=sys.stderr,
            text=True,
        )
        loop = cls(process)
        loop.reader = threading.Thread(target=loop._read, daemon=True)
        loop.reader.start()
        return loop

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(json.loads(line))

    def wait_for(self, what: Callable[[dict[str, Any]], bool], since: int = 0) -> dict[str, Any]:
        """The first line that fits, after so many others."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            found = next((line for line in self.said[since:] if what(line)), None)
            if found is not None:
                return found
            assert self.process.poll() is None, self.said[-5:]
            time.sleep(0.1)
        raise AssertionError([line for line in self.said if line.get("key") != "drift"][-15:])

    def updated(self, since: int = 0) -> dict[str, Any]:
        """The line that says that a commit was brought to the stack."""
        return self.wait_for(lambda line: line["phase"] == "act" and line["key"] == "commit", since)

    def close(self) -> None:
        """Leave nothing behind."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def end(self) -> int:
        """End it as an orchestrator would; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE_SECONDS)
