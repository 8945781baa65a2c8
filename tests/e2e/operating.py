"""`holdfast operator run` under test: a process, the lines it logs, what it serves."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WAIT_SECONDS = 180.0


def eventually(check: Callable[[], bool], what: str) -> None:
    """Wait until something is so, as long as a busy machine may take."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not check():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.3)


@dataclass
class Operating:
    """An operator under way.

    Attributes:
        log: Every line that it logged.
    """

    process: "subprocess.Popen[str]"
    log: list[dict[str, Any]] = field(default_factory=list)

    def logged(self, **wanted: Any) -> list[dict[str, Any]]:
        """Lines with these values."""
        return [line for line in tuple(self.log) if wanted.items() <= line.items()]

    def wait_for(self, **wanted: Any) -> dict[str, Any]:
        """The first line with these values."""

        def is_there() -> bool:
            assert self.process.poll() is None or self.logged(**wanted), self.log
            return bool(self.logged(**wanted))

        eventually(is_there, f"{wanted} in {self.log[-20:]}")
        return self.logged(**wanted)[0]

    def ask(self, path: str) -> tuple[int, str]:
        """Status and body of what it serves."""
        address = self.wait_for(phase="start")["address"]
        try:
            with urllib.request.urlopen(f"http://{address}{path}") as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name: str, **labels: str) -> float:
        """Sum of a metric's samples with these labels."""
        total = 0.0
        for line in self.ask("/metrics")[1].splitlines():
            if line.startswith((f"{name}{{", f"{name} ")) and all(
                f'{key}="{value}"' in line for key, value in labels.items()
            ):
                total += float(line.rpartition(" ")[2])
        return total

    def end(self) -> int:
        """Tell it to end; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_SECONDS)


@contextmanager
def operating(
    kubeconfig: Path, stack: str, *arguments: str, variables: Mapping[str, str] | None = None
) -> Iterator[Operating]:
    """Run an operator until the end of the block."""
    command = ["operator", "run", "-s", stack, "--listen", "127.0.0.1:0", *arguments]
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"KUBECONFIG": str(kubeconfig)} | dict(variables or {}),
    )
    operator = Operating(process)

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            text = line.strip()
            operator.log.append(json.loads(text) if text.startswith("{") else {"text": text})

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield operator
    finally:
        operator.end()
        reader.join()
        assert process.stderr is not None
        process.stderr.close()
