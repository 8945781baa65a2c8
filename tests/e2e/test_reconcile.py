"""The loop from a bare repository to the cluster, on the real engine and a real API server."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import urllib3
from holdfast.git.command import run_git
from holdfast.reconcile.fights import MOST_PUT_BACKS

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

REVERT = "  drift: {mode: revert}\n"
DEADLINE_SECONDS = 240.0


@dataclass
class Loop:
    """A running `holdfast reconcile`, and everything it has said."""

    process: "subprocess.Popen[str]"
    said: list[dict[str, Any]] = field(default_factory=list)
    reader: threading.Thread = field(default_factory=threading.Thread)

    @classmethod
    def start(cls, project: GitProject, repository: Path, *options: str) -> "Loop":
        """Start it; its lines are read from a thread."""
        command = [
            sys.executable,
            "-m",
            "holdfast.cli.main",
            "reconcile",
            "-s",
            "dev",
            "-o",
            "json",
        ]
        process = subprocess.Popen(
            [*command, "--repo", str(repository), "--listen", "127.0.0.1:0", *options],
            cwd="/",
            env=os.environ | {"HOLDFAST_STATE": str(project.project.sandbox.state)},
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
        raise AssertionError(self.said[-15:])

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
        return self.process.wait(60)


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """One agent whose drift is put back, in a repository."""
    root = tmp_path_factory.mktemp("loop")
    return GitProject.write(root, sandbox, agent("mover", "1.0.0", REVERT))


@pytest.fixture(scope="module")
def repository(project: GitProject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bare repository that everybody pushes to."""
    bare = tmp_path_factory.mktemp("bare") / "fleet.git"
    run_git(project.root, "clone", "--quiet", "--bare", str(project.root), str(bare))
    run_git(project.root, "remote", "add", "origin", str(bare))
    return bare


def push(project: GitProject, version: str, more: str = REVERT) -> str:
    commit = project.commit(f"Move to {version}", agent("mover", version, more))
    run_git(project.root, "push", "--quiet", "origin", "HEAD:main")
    return commit


def version_of(kubectl: Kubectl) -> str:
    labels = kubectl.get("deployment", "mover", "-n", "loop")["metadata"]["labels"]
    return str(labels["app.kubernetes.io/version"])


@pytest.fixture
def polling(project: GitProject, repository: Path) -> Iterator[Loop]:
    """A loop that asks every three seconds."""
    loop = Loop.start(project, repository, "--interval", "3", "--resync", "5")
    yield loop
    loop.close()


def test_commits_and_drift_become_what_was_declared(
    project: GitProject, polling: Loop, kubectl: Kubectl
) -> None:
    polling.updated()
    assert version_of(kubectl) == "1.0.0"

    seen = len(polling.said)
    kubectl("set", "env", "deployment/mover", "-n", "loop", "HOTFIX=1")
    done = polling.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
    phases = [line["phase"] for line in polling.said if line.get("id") == done["id"]]
    assert phases[:3] == ["observe", "diff", "act"]
    assert project.project.drift()[0] == 0

    seen = len(polling.said)
    commit = push(project, "1.1.0")
    polling.updated(seen)
    assert version_of(kubectl) == "1.1.0"
    newest = json.loads(project.project.holdfast("history", "dev", "-o", "json").stdout)["updates"][
        0
    ]
    assert (newest["action"], newest["commit"], newest["outcome"]) == (
        "reconcile",
        commit,
        "succeeded",
    )

    seen = len(polling.said)
    push(project, "1.2.0", "  scaling: {minReplicas: many}\n")
    polling.wait_for(lambda line: line["phase"] == "error" and line["key"] == "commit", seen)
    kubectl("set", "env", "deployment/mover", "-n", "loop", "HOTFIX=2")
    polling.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
    assert version_of(kubectl) == "1.1.0", "what is faulty changes nothing, what runs is held"

    paused = project.project.holdfast("pause", "-s", "dev", "--reason", "by hand")
    assert paused.returncode == 0, paused.stderr
    seen = len(polling.said)
    push(project, "1.3.0")
    waits = polling.wait_for(lambda line: line["phase"] == "wait", seen)
    assert waits["reason"].endswith(": by hand")
    assert version_of(kubectl) == "1.1.0"
    assert project.project.holdfast("resume", "-s", "dev").returncode == 0
    polling.updated(seen)
    assert version_of(kubectl) == "1.3.0"
    assert polling.end() == 8


def test_a_hook_is_heard_at_once_and_the_loop_goes_on_after_a_restart(
    project: GitProject, repository: Path, kubectl: Kubectl
) -> None:
    loop = Loop.start(project, repository, "--interval", "86400", "--resync", "86400")
    try:
        address = loop.wait_for(lambda line: line["phase"] == "listen")["address"]
        loop.wait_for(lambda line: line["phase"] == "diff" and not line.get("changed", True))
        seen = len(loop.said)
        commit = push(project, "1.4.0")
        with urllib3.PoolManager() as pool:
            assert pool.request("POST", f"http://{address}/hook").status == 202
            loop.updated(seen)
            assert version_of(kubectl) == "1.4.0"
            status = json.loads(pool.request("GET", f"http://{address}/status").data)
            assert (status["wantedCommit"], status["isRunning"]) == (commit, True)
            metrics = pool.request("GET", f"http://{address}/metrics").data.decode()
            assert 'holdfast_reconcile_behind{stack="dev"} 0.0' in metrics
        _fight(loop, kubectl)
        with urllib3.PoolManager() as pool:
            metrics = pool.request("GET", f"http://{address}/metrics").data.decode()
            assert 'holdfast_fights_total{stack="dev"} 1.0' in metrics
            status = json.loads(pool.request("GET", f"http://{address}/status").data)
            (stable,) = [each for each in status["conditions"] if each["type"] == "Stable"]
            assert (stable["status"], stable["reason"]) == ("False", "Fighting")
        assert loop.end() == 8
    finally:
        loop.close()


def _fight(loop: Loop, kubectl: Kubectl) -> None:
    """Set a variable again and again, until the loop gives in."""
    for turn in range(MOST_PUT_BACKS + 1):
        seen = len(loop.said)
        kubectl("set", "env", "deployment/mover", "-n", "loop", f"HOTFIX={turn}")
        loop.wait_for(lambda line: line["phase"] == "diff" and line.get("agent") == "mover", seen)
        if turn < MOST_PUT_BACKS:
            loop.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
    assert [line["path"] for line in loop.said if line["phase"] == "fight"] == [
        "spec.template.spec.containers[name=agent].env[name=HOTFIX]"
    ]
    kept = kubectl.get("deployment", "mover", "-n", "loop")["spec"]["template"]["spec"]
    assert {"name": "HOTFIX", "value": str(MOST_PUT_BACKS)} in kept["containers"][0]["env"]
