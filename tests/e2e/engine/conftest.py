"""What tests of the engine share: a small Pulumi project in a namespace of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.adapters.engine.run import process
from holdfast.adapters.engine.run.process import session_members
from holdfast.adapters.engine.stack import Stack

from tests.e2e.live_sandbox import LiveSandbox
from tests.e2e.pulumi_project import PulumiProject


@pytest.fixture
def project(sandbox: LiveSandbox, namespace: str, tmp_path: Path) -> PulumiProject:
    """A Pulumi project of the test's own; it declares nothing yet."""
    project = PulumiProject(tmp_path / "project", sandbox.context, sandbox.kubeconfig(), namespace)
    project.create()
    return project


@pytest.fixture
def updated(project: PulumiProject) -> Stack:
    """The stack, updated: it has one ConfigMap."""
    project.declare(project.config_map("one", a="1"))
    stack = project.stack()
    stack.up()
    return stack


@pytest.fixture
def nothing_is_left_running(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """After each test: no process of any session that a run has had."""
    sessions: list[int] = []
    end_session = process.end_session

    def record(session: int) -> tuple[int, ...]:
        sessions.append(session)
        return end_session(session)

    monkeypatch.setattr(process, "end_session", record)
    yield sessions
    assert sessions
    assert [session_members(session) for session in sessions] == [()] * len(sessions)
