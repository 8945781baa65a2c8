"""Runs of the engine that tests kill, cancel and race."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from holdfast.adapters.engine.run.process import end_session, session_members
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.interrupted import interrupted

from tests.e2e.pulumi_project import PulumiProject

PATIENCE_SECONDS = 240

DRIVER = """
import resource, sys
from pathlib import Path
from holdfast.adapters.engine.stack import open_stack
from holdfast.errors import HoldfastError

if len(sys.argv) > 3:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
def show(event):
    step = getattr(event, "step", None)
    print(type(event).__name__, step.name if step else "", flush=True)
try:
    open_stack(Path(sys.argv[1]), "dev", kubeconfig=Path(sys.argv[2])).up(on_event=show)
except HoldfastError as error:
    print(error, file=sys.stderr)
    sys.exit(int(error.exit_code))
"""


class Run:
    """A plain `pulumi up`, as somebody would start it, in a session of its own."""

    def __init__(self, stack: Stack, **variables: str) -> None:
        runner = stack.runner
        flags = ["--yes", "--skip-preview", "--non-interactive", "--color=never"]
        self.stack = stack
        self.process = subprocess.Popen(
            [runner.environment.pulumi.path, "up", *flags, "--stack", stack.name],
            cwd=runner.project.root,
            env={**runner.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def wait_for_pending(self, wanted: str) -> None:
        """Wait until the state says that an operation has begun."""
        wait_until(lambda: wanted in interrupted(self.stack).pending, self.process)

    def member(self, program: str) -> int:
        """Process of the run that a program's name tells."""
        found: list[int] = []

        def look() -> bool:
            for pid in session_members(self.process.pid):
                try:
                    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
                except OSError:
                    continue
                if program in command:
                    found.append(pid)
            return bool(found)

        wait_until(look, self.process)
        return found[0]

    def kill(self) -> None:
        """SIGKILL, and what it leaves behind is ended."""
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def end(self) -> str:
        """Wait for its end; what it has said."""
        said = ""
        try:
            said = self.process.communicate(timeout=PATIENCE_SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            pytest.fail("the run did not end")
        finally:
            end_session(self.process.pid)
        return said


@contextmanager
def started(stack: Stack, **variables: str) -> Iterator[Run]:
    """A run that is killed at the end if it still goes on."""
    run = Run(stack, **variables)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.kill()


def driven(project: PulumiProject, *arguments: str) -> "subprocess.Popen[str]":
    """An update in a process of its own, as the command line runs it."""
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, project.root, project.kubeconfig, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(is_so: Callable[[], bool], process: "subprocess.Popen[str] | None" = None) -> None:
    """Wait until something is so; not beyond the end of the process that is to bring it about."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to that in time"
        if process is not None and process.poll() is not None:
            assert is_so(), f"the run ended before that: {process.communicate()[0]}"
            return
        time.sleep(0.05)
