"""What a loop acts on: a clone of its own, wherever its process was started."""

from pathlib import Path

import pytest
from holdfast.adapters.git.tracking import TrackedBranch
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.operations.stack.context import StackContext

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


def test_the_watch_reads_a_working_tree_that_no_checkout_of_the_loop_touches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    DeclaredProject.write(repository / "fleet", manifest("app"))
    commit_all(repository, "Declare")
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    tracked = TrackedBranch(str(repository), "main", tmp_path / "clone")
    actor = LoopActor(tracked, "dev", "fleet")
    actor.begin()
    watched = actor.check_out_for_watch()

    for file in (repository / "fleet" / "agents").iterdir():
        file.write_text(manifest("other"))
    newer = commit_all(repository, "Replace")
    tracked.check_out(actor.newest())

    assert actor.root not in (watched, *watched.parents)
    assert actor.newest().name == newer
    names = [
        [each.name for each in StackContext(root, "dev").fleet.workloads]
        for root in (actor.root, watched)
    ]
    assert names == [["other"], ["app"]]
