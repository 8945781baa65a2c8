"""What a loop acts on: a clone of its own, wherever its process was started."""

from pathlib import Path

import pytest
from holdfast.adapters.git.tracking import TrackedBranch
from holdfast.controllers.gitops.loop_actor import LoopActor

from tests.unit.adapters.git.repository import commit_all
from tests.unit.operations.declared_project import DeclaredProject, manifest


def test_a_loop_works_in_its_clone_and_stays_where_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = DeclaredProject.write(tmp_path / "repository" / "fleet", manifest("app"))
    commit = commit_all(tmp_path / "repository", "Declare")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    tracked = TrackedBranch(str(tmp_path / "repository"), "main", tmp_path / "clone")

    actor = LoopActor(tracked, "dev", "fleet")

    assert actor.begin() == tmp_path / "clone" / "fleet"
    assert Path.cwd() == tmp_path / "elsewhere"
    assert actor.newest().name == commit
    assert actor.blocked_by() is None
    assert actor.root != project.root
