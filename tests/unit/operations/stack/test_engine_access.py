"""Before an update: the sandbox that a stack lives in must be there; a new stack's salt is told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from holdfast.adapters.engine.stack import Stack
from holdfast.errors import ClusterError
from holdfast.operations.deploy.state_copies import make_if_absent
from holdfast.operations.stack.context import StackContext

SETTINGS = "config:\n  holdfast:cluster: {context: CONTEXT}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    (tmp_path / "stacks").mkdir()
    return tmp_path


def settle(project: Path, context: str) -> Path:
    file = project / "stacks" / "Pulumi.dev.yaml"
    file.write_text(SETTINGS.replace("CONTEXT", context))
    return file


def test_a_stack_whose_sandbox_is_not_there_is_reported_what_to_run(project: Path) -> None:
    settle(project, "holdfast-team-a")
    with pytest.raises(ClusterError) as raised:
        StackContext(project, "dev").require_sandbox()
    assert str(raised.value) == (
        "stack dev lives in sandbox 'team-a', which does not exist; "
        "run `holdfast sandbox up --name team-a`"
    )


def test_a_cluster_of_somebody_else_is_not_looked_for(project: Path) -> None:
    settle(project, "prod-eu-1")
    StackContext(project, "dev").require_sandbox()


@dataclass(frozen=True)
class Backend:
    """As much of a stack as is asked."""

    init_if_absent: Callable[[], bool]
    name: str = "dev"


def made(project: Path, init: Callable[[], bool]) -> list[str]:
    return list(make_if_absent(cast("Stack", Backend(init)), project))


def test_the_salt_of_a_new_stack_is_reported_with_the_command_that_commits_it(
    project: Path,
) -> None:
    file = settle(project, "x")

    def init() -> bool:
        file.write_text(file.read_text() + "encryptionsalt: v1:x\n")
        return True

    assert made(project, init) == [
        "made stack dev",
        "its salt is in its file now: git commit stacks/Pulumi.dev.yaml -m 'Salt of stack dev'",
    ]


def test_of_a_file_that_has_its_salt_nothing_is_to_be_committed(project: Path) -> None:
    settle(project, "x")
    assert made(project, lambda: True) == ["made stack dev"]
    assert made(project, lambda: False) == []
