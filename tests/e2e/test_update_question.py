"""`holdfast up` asks on a terminal: a real pseudo-terminal, engine and API server."""

import errno
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.fleet_project import FleetProject
from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import TIMEOUT_SECONDS, Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

QUESTION = "Update stack dev? [y/N]"


class Typed:
    """`holdfast` on a terminal of its own, and what was typed when it asked."""

    def __init__(self, project: FleetProject, *arguments: str) -> None:
        self.text = ""
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast.cli.main", *arguments],
            cwd=project.root,
            env=os.environ | {"HOLDFAST_STATE": str(project.sandbox.state)},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def wait_for(self, words: str) -> None:
        """Read until these words are shown."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while words not in self.text:
            assert self._read(deadline), f"ended without {words!r}: {self.text}"

    def type(self, keys: str) -> None:
        """Press these keys."""
        os.write(self.terminal, keys.encode())

    def end(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self._read(deadline):
            pass
        os.close(self.terminal)
        return self.process.wait(TIMEOUT_SECONDS)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"nothing more was shown: {self.text}"
        try:
            part = os.read(self.terminal, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        self.text += part.decode(errors="replace")
        return bool(part)


def updates(project: FleetProject) -> int:
    """How many updates the history has."""
    done = project.holdfast("history", "-s", "dev", "-o", "json")
    return len(json.loads(done.stdout)["updates"])


def deployments(kubectl: Kubectl) -> set[str]:
    """Names of the agents' Deployments."""
    listed = kubectl.get("deployments", "-n", "loop")["items"]
    return {each["metadata"]["name"] for each in listed}


def test_an_update_on_a_terminal_waits_for_yes(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    git = GitProject.write(tmp_path, sandbox, agent("first") + agent("second"))
    project = git.project

    asked = Typed(project, "up", "-s", "dev")
    asked.wait_for(QUESTION)
    project.pulumi("refresh", "--yes", "--skip-preview")  # it takes the lock: no other holds it
    asked.type("n\n")
    assert asked.end() == 8, asked.text
    assert "cancelled" in asked.text
    assert deployments(kubectl) == set()
    assert updates(project) == 0

    asked = Typed(project, "up", "-s", "dev")
    asked.wait_for(QUESTION)
    asked.type("y\n")
    assert asked.end() == 0, asked.text
    assert deployments(kubectl) == {"first", "second"}
    assert updates(project) == 1

    asked = Typed(project, "up", "-s", "dev")
    assert asked.end() == 0, asked.text
    assert "preview: no changes" in asked.text
    assert QUESTION not in asked.text

    git.commit("Remove second", agent("first"))
    before = updates(project)
    asked = Typed(project, "up", "-s", "dev")
    asked.wait_for(QUESTION)
    _, _, shown = asked.text.partition("stack dev: ")
    assert "delete   Deployment loop/second" in shown
    assert "Deployment loop/first" not in shown
    asked.type("\x04")
    assert asked.end() == 8, asked.text

    asked = Typed(project, "up", "-s", "dev")
    asked.wait_for(QUESTION)
    git.commit("Remove first instead", agent("second"))
    asked.type("y\n")
    assert asked.end() == 2, asked.text
    assert "the project's files changed after the preview" in asked.text
    assert deployments(kubectl) == {"first", "second"}
    assert updates(project) == before

    git.commit("Remove second again", agent("first"))
    agreed = Typed(project, "up", "-s", "dev", "-y")
    assert agreed.end() == 0, agreed.text
    assert QUESTION not in agreed.text
    assert deployments(kubectl) == {"first"}


def test_a_pipe_is_not_asked(sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path) -> None:
    project = GitProject.write(tmp_path, sandbox, agent("piped")).project
    done = project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    assert QUESTION not in done.stderr
    assert "piped" in deployments(kubectl)
