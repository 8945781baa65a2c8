"""What a loop acts on: a clone of its own, wherever its process was started."""

import shutil
from pathlib import Path

import pytest
from holdfast.adapters.cluster.client import JSON
from holdfast.adapters.git.source import commit_named
from holdfast.adapters.git.tracking import TrackedBranch
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.errors import ClusterError, HoldfastError
from holdfast.operations.stack.agent_stack import Suspension
from holdfast.operations.stack.context import StackContext

from tests.unit.adapters.cluster.fake_api import Answer, failure, fake_api
from tests.unit.adapters.git.repository import commit_all
from tests.unit.operations.declared_project import DeclaredProject, manifest, write_kubeconfig


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

    assert actor.root == tmp_path / "clone" / "fleet"
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


def test_after_the_lease_is_lost_neither_client_nor_update_nor_revert_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DeclaredProject.write(tmp_path / "repository" / "fleet", manifest("app"))
    commit_all(tmp_path / "repository", "Declare")
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        tracked = TrackedBranch(str(tmp_path / "repository"), "main", tmp_path / "clone")
        actor = LoopActor(tracked, "dev", "fleet")
        commit = actor.newest()
        client = actor.connect()
        actor.fence.close("the lease was lost")
        for each in (client, actor.connect()):
            with pytest.raises(ClusterError, match="is not sent: the lease was lost"):
                each.write("PATCH", "/api/v1/pods/a", b"{}", content_type=JSON)
        with pytest.raises(HoldfastError, match="nothing is written: the lease was lost"):
            actor.update(commit)
        with pytest.raises(HoldfastError, match="nothing is written: the lease was lost"):
            actor.remediate("app", [("Deployment loop/app", "spec.replicas")])
        assert api.requests == []


def test_a_loop_reads_from_its_cluster_whether_it_is_suspended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DeclaredProject.write(tmp_path / "repository" / "fleet", manifest("app"))
    commit_all(tmp_path / "repository", "Declare")
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        tracked = TrackedBranch(str(tmp_path / "repository"), "main", tmp_path / "clone")
        actor = LoopActor(tracked, "dev", "fleet")
        path = "/apis/holdfast.dev/v1alpha1/agentstacks/dev"
        api.on(path, Answer({"spec": {"suspend": True}}), failure(403))
        assert actor.control().suspension == Suspension()
        with pytest.raises(ClusterError, match="cannot be read"):
            actor.control()


def test_a_working_tree_of_a_clone_that_was_removed_is_made_again(tmp_path: Path) -> None:
    DeclaredProject.write(tmp_path / "repository", manifest("app"))
    commit = commit_all(tmp_path / "repository", "Declare")
    for _ in range(2):
        tracked = TrackedBranch(str(tmp_path / "repository"), "main", tmp_path / "clone")
        tracked.check_out(tracked.newest())
        tracked.check_out_beside(tmp_path / "watch")
        assert (tmp_path / "watch" / "Pulumi.yaml").is_file()
        assert commit_named(tmp_path / "watch", "HEAD").name == commit
        shutil.rmtree(tmp_path / "clone")
