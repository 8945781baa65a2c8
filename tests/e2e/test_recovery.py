"""What was lost is brought back: unfinished updates, cut off and lost states, a whole cluster."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.errors import ExitCode

from tests.e2e.engine.runs import wait_until
from tests.e2e.fleet_project import CLONE
from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.shifted_clock import shift

pytestmark = pytest.mark.e2e

PATIENCE_SECONDS = 300
STORY_SECONDS = 1200
WRITING = ("create", "update", "patch", "delete", "deletecollection")
HOLD = "sandbox.holdfast.dev/hold"
HELD = agent("bot").replace(
    "namespace: loop}", f'namespace: loop, annotations: {{{HOLD}: "true"}}}}'
)
FINALIZER = '{"metadata": {"finalizers": ["test.holdfast.dev/hold"]}}'
NO_FINALIZER = '{"metadata": {"finalizers": null}}'


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """One agent, deployed; the tests of this file go on from each other's end."""
    project = GitProject.write(tmp_path_factory.mktemp("recovery"), sandbox, agent("bot"))
    done = holdfast(project, "up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    return project


def holdfast(project: GitProject, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return project.project.holdfast(*arguments)


def files_of(project: GitProject) -> FileHistory:
    files = project.project.stack().files
    assert files is not None
    return files


def recover_interrupted(project: GitProject, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = holdfast(project, "recover", "-s", "dev", "-o", "json", *arguments)
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, document


def written_by_us(sandbox: LiveSandbox) -> int:
    """How often the stack's account has written to the cluster, trials left out."""
    return sum(
        event["user"]["username"] == "admin"
        and event["verb"] in WRITING
        and "dryRun=" not in event["requestURI"]
        for event in sandbox.audit_events()
    )


def assert_settled(project: GitProject) -> None:
    """A scan finds nothing, and an update has nothing to do."""
    code, report = project.project.drift("--no-history")
    assert (code, report["findings"]) == (0, [])
    assert not project.project.stack().preview().steps


def test_a_lost_state_is_recreated_and_proved_equal_without_writing_to_the_cluster(
    project: GitProject, sandbox: LiveSandbox
) -> None:
    files = files_of(project)
    before = sorted(each.urn for each in project.project.stack().export().resources)
    for path in files.state_paths():
        path.unlink()
    gone = holdfast(project, "drift", "-s", "dev")
    written = written_by_us(sandbox)

    code, told = recover_interrupted(project)

    assert "state of stack dev is gone" in gone.stderr
    assert "run 'holdfast recover -s dev' to rebuild it" in gone.stderr
    assert code == ExitCode.OK, told
    assert told["source"] == "cluster"
    assert told["missing"] == told["leftOut"] == told["wouldChange"] == told["drift"] == []
    assert sorted(each.urn for each in project.project.stack().export().resources) == before
    assert written_by_us(sandbox) == written
    assert_settled(project)
    assert "recover  done" in holdfast(project, "history", "dev").stdout


def test_a_state_that_is_there_is_not_touched(project: GitProject) -> None:
    done = holdfast(project, "recover", "-s", "dev")

    assert done.returncode == ExitCode.BAD_INPUT
    assert "stack dev has a state, of " in done.stderr
    assert "add --replace" in done.stderr


def test_what_differs_or_is_not_there_is_named_and_left_to_the_next_update(
    project: GitProject, kubectl: Kubectl
) -> None:
    kubectl("delete", "networkpolicy", "bot", "-n", "loop")
    image = "registry.example/any:by-hand"
    kubectl("set", "image", "deployment/bot", f"agent={image}", "-n", "loop")

    code, told = recover_interrupted(project, "--replace")

    assert code == ExitCode.DRIFT
    assert told["missing"] == ["NetworkPolicy loop/bot"]
    assert set(told["wouldChange"]) == {
        "create NetworkPolicy loop/bot",
        "update Deployment loop/bot",
    }
    assert any("image" in each for each in told["drift"])
    reverted = holdfast(project, "drift", "revert", "-s", "dev", "--yes")
    # What the cluster has is as declared again; what the state says of it is, after an update.
    assert reverted.returncode in (ExitCode.OK, ExitCode.DRIFT), reverted.stderr
    done = holdfast(project, "up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    assert_settled(project)


def test_of_a_state_that_is_cut_off_the_newest_readable_copy_is_taken(project: GitProject) -> None:
    files = files_of(project)
    (path,) = files.state_paths()
    good = path.read_bytes()
    path.write_bytes(good[:100])
    refused = holdfast(project, "up", "-s", "dev")

    code, told = recover_interrupted(project)

    assert refused.returncode == ExitCode.ERROR
    assert "cannot be read, it may be cut off" in refused.stderr
    assert "run 'holdfast recover'" in refused.stderr
    assert code == ExitCode.OK, told
    assert told["source"].endswith((".bak", ".gz"))
    kept = [each for each in path.parent.iterdir() if ".replaced-" in each.name]
    assert good[:100] in [each.read_bytes() for each in kept]
    assert_settled(project)


def killed_while(project: GitProject, operation: str, is_written: Callable[[], bool]) -> str:
    """Kill the engine of an update in the midst of an operation that has reached the cluster.

    Returns:
        What the update said.
    """
    stack = project.project.stack()
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", "up", "-s", "dev"],
        cwd=project.root,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        wait_until(lambda: operation in interrupted(stack).pending and is_written(), run)
        # The engine itself: it wrote the lock.
        os.kill(files_of(project).holders()[0].pid, signal.SIGKILL)
        said = run.communicate(timeout=PATIENCE_SECONDS)[1]
    assert run.returncode == ExitCode.ERROR
    return said


def test_a_killed_update_is_named_by_everyone_and_resumed_on_request(
    project: GitProject, kubectl: Kubectl
) -> None:
    project.commit("A pod that never starts", HELD)

    said = killed_while(
        project,
        "updating Deployment loop/bot",
        lambda: HOLD in kubectl("get", "deployment", "bot", "-n", "loop", "-o", "yaml"),
    )
    # What the state last had of it: only the pending operation tells that the cluster has more.
    project.commit("A pod that starts", agent("bot"))

    assert "ended by signal 9" in said
    assert "run 'holdfast up -s dev --recover' to resume" in said
    code, report = project.project.drift("--no-history")
    assert code == ExitCode.ERROR
    unseen = " ".join(f"{each['scope']}: {each['reason']}" for each in report["notChecked"])
    assert "Deployment loop/bot: in flight, an interrupted update left it unfinished" in unseen
    assert "was killed while it changed it: that process has ended: run 'holdfast up" in unseen
    status = holdfast(project, "status", "-s", "dev")
    assert status.returncode in (ExitCode.ERROR, ExitCode.DRIFT)
    assert "in flight" in status.stdout
    refused = holdfast(project, "up", "-s", "dev")
    assert refused.returncode == ExitCode.ERROR
    assert "that process has ended: run 'holdfast up -s dev --recover'" in refused.stderr

    taken_up = holdfast(project, "up", "-s", "dev", "--recover")

    assert taken_up.returncode == 0, taken_up.stderr
    assert "recovery: removed the lock of " in taken_up.stderr
    assert "recovery: resumed: updating Deployment loop/bot" in taken_up.stderr
    assert_settled(project)
    assert HOLD not in kubectl("get", "deployment", "bot", "-n", "loop", "-o", "yaml")


def test_what_a_killed_update_has_deleted_is_recreated_where_it_is_declared_again(
    project: GitProject, kubectl: Kubectl
) -> None:
    guarded = agent("bot", more="  scaling: {replicas: 2}\n")
    project.commit("Two pods, guarded", guarded)
    assert holdfast(project, "up", "-s", "dev").returncode == 0
    budget = ("poddisruptionbudget", "bot", "-n", "loop")
    kubectl("patch", *budget, "--type=merge", "-p", FINALIZER)
    project.commit("One pod", agent("bot"))

    killed_while(
        project,
        "deleting PodDisruptionBudget loop/bot",
        lambda: "deletionTimestamp" in kubectl("get", *budget, "-o", "yaml"),
    )
    kubectl("patch", *budget, "--type=merge", "-p", NO_FINALIZER)
    project.commit("Two pods again", guarded)
    taken_up = holdfast(project, "up", "-s", "dev", "--recover")

    assert taken_up.returncode == 0, taken_up.stderr
    assert_settled(project)
    kubectl("get", *budget)


def test_what_a_killed_update_had_made_and_nobody_declares_any_more_is_named(
    project: GitProject, kubectl: Kubectl
) -> None:
    kept = agent("bot", more="  scaling: {replicas: 2}\n")
    project.commit("One more", kept + HELD.replace("name: bot", "name: extra"))
    extra = ("deployment", "extra", "-n", "loop")

    killed_while(
        project,
        "creating Deployment loop/extra",
        lambda: kubectl.run("get", *extra).returncode == 0,
    )
    project.commit("None more", kept)
    taken_up = holdfast(project, "up", "-s", "dev", "--recover")

    assert taken_up.returncode == 0, taken_up.stderr
    code, report = project.project.drift("--no-history")
    found = [(each["object"]["name"], each["class"]) for each in report["findings"]]
    assert (code, found) == (ExitCode.DRIFT, [("extra", "unmanaged")])
    kubectl("delete", *extra)
    assert_settled(project)


@pytest.mark.parametrize("days", [2, -4], ids=["ahead", "behind"])
def test_row_47_an_engine_whose_clock_is_off_by_days_makes_no_drift_and_hides_none(
    project: GitProject, kubectl: Kubectl, days: int
) -> None:
    shift(files_of(project), timedelta(days=days))
    kubectl("annotate", "service", "bot", "team=x", "-n", "loop", "--field-manager=console")

    code, report = project.project.drift("--no-history", "--no-engine")

    assert code == ExitCode.DRIFT
    (finding,) = report["findings"]
    assert (finding["object"]["kind"], finding["class"]) == ("Service", "added")
    reverted = holdfast(project, "drift", "revert", "-s", "dev", "--yes", "--no-history")
    assert reverted.returncode == 0, reverted.stderr


def test_the_story_of_a_lost_cluster_and_a_lost_state_comes_to_its_end(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.recovery"],
        cwd=CLONE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=STORY_SECONDS,
    )

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for expected in (
        "0 objects recovered, ",
        '"kind": "VolumeSnapshot", "name": "support-rag-index-20261121"',
        "in sync",
        "a preview changes nothing, no drift",
        "written to the cluster meanwhile, as its audit log has it: 0 objects",
    ):
        assert expected in done.stdout
