"""Claims make way for ones that are filled from a backup: no failure in between loses data."""

import subprocess
from dataclasses import replace
from typing import Any

import pytest
from holdfast.errors import HoldfastError, InputError
from holdfast.operations.actions.restore import RestoreRequest, apply_restore, plan_restore
from holdfast.operations.progress import SILENT
from holdfast.operations.stack.context import agent_named

from tests.unit.operations.actions.stub_cluster import (
    CLAIMS,
    PODS,
    SNAPSHOTS,
    StubbedContext,
    StubCluster,
)

VOLUMES = "/api/v1/persistentvolumes"
CLAIM = f"{CLAIMS}/mover-data"
REQUEST = RestoreRequest("monday", may_detach=True, branch=None, message="Restore")


@pytest.fixture(autouse=True)
def filled(cluster: StubCluster, context: StubbedContext) -> None:
    """A claim with data, recorded by the engine; a snapshot of it; no pods."""
    cluster.add(CLAIMS, "mover-data", spec={"volumeName": "pv-1"})
    cluster.add(VOLUMES, "pv-1", spec={"persistentVolumeReclaimPolicy": "Delete"})
    cluster.add(SNAPSHOTS, "monday", status={"readyToUse": True})
    cluster.objects[PODS] = {}
    context.stub.claims[:] = ["mover-data", "other-data"]


def restore(context: StubbedContext, request: RestoreRequest = REQUEST) -> None:
    """Plan and apply as a new run does, which has read nothing yet."""
    now = replace(context)
    apply_restore(now, plan_restore(now, agent_named("mover", now.fleet), request), SILENT)


def git(context: StubbedContext, *words: str) -> str:
    names = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    done = subprocess.run(
        ["git", *names, *words], cwd=context.root, capture_output=True, text=True, check=True
    )
    return done.stdout


def stack_file(context: StubbedContext) -> str:
    return (context.root / "stacks" / "Pulumi.prod.yaml").read_text()


def test_the_claim_goes_its_volume_stays_and_the_backup_is_declared(
    context: StubbedContext, cluster: StubCluster
) -> None:
    restore(context)
    assert cluster.writes == [("PATCH", f"{VOLUMES}/pv-1"), ("DELETE", CLAIM)]
    kept = cluster.objects[VOLUMES]["pv-1"]["spec"]["persistentVolumeReclaimPolicy"]
    assert kept == "Retain"
    assert context.stub.claims == ["other-data"]
    assert "storage: {restoreFrom: monday}" in stack_file(context)


def test_a_claim_is_deleted_only_under_the_lock_when_declared_and_in_no_state(
    context: StubbedContext, cluster: StubCluster
) -> None:
    seen: list[tuple[bool, bool, bool]] = []

    def look(method: str, path: str) -> None:
        if method == "DELETE":
            is_declared = "storage: {restoreFrom: monday}" in stack_file(context)
            is_recorded = "mover-data" in context.stub.claims
            seen.append((context.is_locked, is_declared, is_recorded))

    cluster.on_write = look
    restore(context)
    assert seen == [(True, True, False)]
    assert not context.is_locked


def test_a_claim_that_an_update_registers_in_between_leaves_the_state_again(
    context: StubbedContext, cluster: StubCluster
) -> None:
    updates = iter([True])

    def update() -> None:
        if next(updates, False):
            context.stub.claims.append("mover-data")

    context.stub.on_import = update
    recorded: list[bool] = []
    cluster.on_write = lambda *_: recorded.append("mover-data" in context.stub.claims)
    restore(context)
    assert context.stub.commands.count("stack import") == 2
    assert recorded[-1] is False
    assert CLAIM.rpartition("/")[2] not in cluster.objects[CLAIMS]


def test_a_claim_that_every_update_registers_is_never_deleted(
    context: StubbedContext, cluster: StubCluster
) -> None:
    context.stub.on_import = lambda: context.stub.claims.append("mover-data")
    with pytest.raises(HoldfastError, match="register claims of mover again and again"):
        restore(context)
    assert ("DELETE", CLAIM) not in cluster.writes


def snapshot_missing(cluster: StubCluster, _: StubbedContext) -> None:
    cluster.objects[SNAPSHOTS].clear()


def snapshot_unready(cluster: StubCluster, _: StubbedContext) -> None:
    cluster.objects[SNAPSHOTS]["monday"]["status"] = {}


def pod_running(cluster: StubCluster, _: StubbedContext) -> None:
    claim: dict[str, Any] = {"persistentVolumeClaim": {"claimName": "mover-data"}}
    cluster.add(PODS, "mover-1", spec={"volumes": [claim]}, status={"phase": "Running"})


def repository(_: StubCluster, context: StubbedContext) -> None:
    (context.root / ".gitignore").write_text("state\nkept\nkubeconfig\n")
    git(context, "init", "-q")
    git(context, "add", ".")
    git(context, "commit", "-qm", "first")


def branch_exists(cluster: StubCluster, context: StubbedContext) -> None:
    repository(cluster, context)
    git(context, "branch", "friday")


def file_dirty(cluster: StubCluster, context: StubbedContext) -> None:
    repository(cluster, context)
    file = context.root / "stacks" / "Pulumi.prod.yaml"
    file.write_text(stack_file(context) + "# not committed\n")


ON_BRANCH = replace(REQUEST, branch="friday")


@pytest.mark.parametrize(
    ("prepare", "request_", "said"),
    [
        pytest.param(snapshot_missing, REQUEST, "no VolumeSnapshot cx/monday", id="no snapshot"),
        pytest.param(snapshot_unready, REQUEST, "monday is not ready to be used", id="not ready"),
        pytest.param(pod_running, REQUEST, "in use by pod mover-1", id="in use"),
        pytest.param(
            repository, replace(REQUEST, may_detach=False), "add --set-aside", id="not agreed"
        ),
        pytest.param(branch_exists, ON_BRANCH, "branch friday exists already", id="branch"),
        pytest.param(file_dirty, ON_BRANCH, "changed since the last commit", id="dirty file"),
        pytest.param(lambda *_: None, ON_BRANCH, "Git repository", id="no repository"),
    ],
)
def test_what_refuses_a_restore_refuses_it_before_anything_is_written(
    context: StubbedContext, cluster: StubCluster, prepare: Any, request_: RestoreRequest, said: str
) -> None:
    prepare(cluster, context)
    before = stack_file(context)
    with pytest.raises(InputError) as refused:
        restore(context, request_)
    assert said in f"{refused.value.message} {refused.value.remedy}"
    assert cluster.writes == []
    assert context.stub.claims == ["mover-data", "other-data"]
    assert stack_file(context) == before


def test_on_a_branch_the_claim_stays_until_the_branch_is_merged(
    context: StubbedContext, cluster: StubCluster
) -> None:
    repository(cluster, context)
    restore(context, ON_BRANCH)
    assert cluster.writes == []
    assert "restoreFrom" not in stack_file(context)
    git(context, "merge", "-q", "friday")
    restore(context)
    assert ("DELETE", CLAIM) in cluster.writes


@pytest.mark.parametrize("failing", [("PATCH", f"{VOLUMES}/pv-1"), ("DELETE", CLAIM)])
def test_after_a_crash_between_two_steps_the_next_run_does_the_rest(
    context: StubbedContext, cluster: StubCluster, failing: tuple[str, str]
) -> None:
    original = cluster.answer

    def answer(method: str, path: str, body: Any) -> tuple[int, Any]:
        if (method, path) == failing:
            cluster.answer = original  # type: ignore[method-assign]  # crashes once
            return 500, {"kind": "Status", "code": 500, "message": "crashed"}
        return original(method, path, body)

    cluster.answer = answer  # type: ignore[method-assign]
    with pytest.raises(HoldfastError, match="crashed"):
        restore(context)
    assert "mover-data" in cluster.objects[CLAIMS]
    assert "storage: {restoreFrom: monday}" in stack_file(context)
    restore(context)
    assert "mover-data" not in cluster.objects[CLAIMS]
    assert context.stub.claims == ["other-data"]
    kept = cluster.objects[VOLUMES]["pv-1"]["spec"]["persistentVolumeReclaimPolicy"]
    assert kept == "Retain"


def test_a_pod_that_starts_meanwhile_keeps_its_claim(
    context: StubbedContext, cluster: StubCluster
) -> None:
    context.stub.on_import = lambda: pod_running(cluster, context)
    with pytest.raises(InputError, match="in use by pod mover-1"):
        restore(context)
    assert "mover-data" in cluster.objects[CLAIMS]
