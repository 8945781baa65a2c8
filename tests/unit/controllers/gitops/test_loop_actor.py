"""What a loop acts on: a clone of its own, wherever its process was started."""

import shutil
import sys
from pathlib import Path

import pytest
from holdfast.adapters.cluster.client import JSON
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.git.repository import run_git
from holdfast.adapters.git.source import commit_named
from holdfast.adapters.git.tracking import SignatureError, TrackedBranch
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.controllers.gitops.roles import RejectedCommitError
from holdfast.errors import ClusterError, HoldfastError, InputError
from holdfast.operations.stack.agent_stack import Suspension
from holdfast.operations.stack.commit_project import lend_environment
from holdfast.operations.stack.context import StackContext

from tests.unit.adapters.cluster.fake_api import Answer, failure, fake_api
from tests.unit.adapters.git.repository import commit_all, sign_commits
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


def test_a_working_tree_of_a_clone_that_was_removed_is_recreated(tmp_path: Path) -> None:
    DeclaredProject.write(tmp_path / "repository", manifest("app"))
    commit = commit_all(tmp_path / "repository", "Declare")
    for _ in range(2):
        tracked = TrackedBranch(str(tmp_path / "repository"), "main", tmp_path / "clone")
        tracked.check_out(tracked.newest())
        tracked.check_out_beside(tmp_path / "watch")
        assert (tmp_path / "watch" / "Pulumi.yaml").is_file()
        assert commit_named(tmp_path / "watch", "HEAD").name == commit
        shutil.rmtree(tmp_path / "clone")


def test_nothing_of_an_unsigned_commit_is_checked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    signers = sign_commits(repository, tmp_path)
    DeclaredProject.write(repository, manifest("app"))
    trusted = commit_all(repository, "Declare")
    config = tmp_path / "gitconfig"
    config.write_text(f"[gpg.ssh]\n  allowedSignersFile = {signers}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    with (repository / "Pulumi.yaml").open("a") as settings:
        settings.write("backend: {url: https://evil.example}\n")
    run_git(repository, "config", "commit.gpgSign", "false")
    unsigned = commit_all(repository, "Keep the state elsewhere")
    tracked = TrackedBranch(str(repository), "main", tmp_path / "clone")
    actor = LoopActor(tracked, "dev", needs_signature=True)

    assert read_project(actor.root).backend_url == ""
    assert run_git(tracked.folder, "rev-parse", "HEAD") == trusted
    with pytest.raises(RejectedCommitError, match="no signature that is trusted"):
        actor.newest()
    with pytest.raises(RejectedCommitError, match="no signature that is trusted"):
        actor.update(commit_named(tracked.folder, unsigned))
    assert run_git(tracked.folder, "rev-parse", "HEAD") == trusted
    watched = actor.check_out_for_watch()
    assert run_git(watched, "rev-parse", "HEAD") == trusted


def test_a_loop_of_a_branch_without_a_signed_commit_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DeclaredProject.write(tmp_path / "repository", manifest("app"))
    commit_all(tmp_path / "repository", "Declare")
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    tracked = TrackedBranch(str(tmp_path / "repository"), "main", tmp_path / "clone")
    with pytest.raises(SignatureError, match="none of the last 100 commits"):
        _ = LoopActor(tracked, "dev", needs_signature=True).root
    assert not (tracked.folder / "Pulumi.yaml").exists()


@pytest.mark.parametrize(
    "place", ["../out/venv", "way/venv", ".git/hooks", "/absent/elsewhere/venv"]
)
def test_no_commit_has_folders_made_outside_of_its_checkout(tmp_path: Path, place: str) -> None:
    checkout = tmp_path / "clone"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "way").symlink_to(tmp_path)
    options = f"runtime: {{name: python, options: {{virtualenv: {place}}}}}"
    (checkout / "Pulumi.yaml").write_text(f"name: x\n{options}\n")
    with pytest.raises(InputError, match="is outside of the repository"):
        lend_environment(None, checkout)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["clone"]


def test_a_project_below_the_top_of_its_repository_may_share_an_environment(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "fleet").mkdir()
    options = "runtime: {name: python, options: {virtualenv: ../.venv}}"
    (tmp_path / "fleet/Pulumi.yaml").write_text(f"name: x\n{options}\n")
    lend_environment(None, tmp_path / "fleet")
    assert (tmp_path / ".venv").resolve() == Path(sys.prefix).resolve()
