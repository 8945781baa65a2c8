"""A restart: by the workload's restart field and its controller, or by evictions."""

from typing import Any

import pytest
from holdfast.errors import InputError
from holdfast.operations.actions import pods as pods_module
from holdfast.operations.actions.restart import RESTARTED_AT, apply_restart, plan_restart
from holdfast.operations.progress import SILENT
from holdfast.operations.stack.context import agent_named

from tests.unit.operations.actions.stub_cluster import (
    DEPLOYMENTS,
    PODS,
    StubbedContext,
    StubCluster,
)

HEALTHY = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
LABELS = {"app.kubernetes.io/name": "mover"}


@pytest.fixture(autouse=True)
def running(cluster: StubCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A healthy Deployment of two pods, on two nodes."""
    monkeypatch.setattr(pods_module, "LOOK_SECONDS", 0.0)
    cluster.add(
        DEPLOYMENTS,
        "mover",
        metadata={"generation": 1},
        spec={"replicas": 2, "selector": {"matchLabels": LABELS}},
        status=HEALTHY,
    )
    pod(cluster, "mover-1", "worker-1")
    pod(cluster, "mover-2", "worker-2")


def pod(cluster: StubCluster, name: str, node: str, owner: str = "ReplicaSet") -> None:
    owners = [{"kind": owner, "name": "mover", "controller": True}]
    metadata = {"labels": LABELS, "ownerReferences": owners}
    cluster.add(PODS, name, metadata=metadata, spec={"nodeName": node})


def restart(context: StubbedContext, node: str = "") -> None:
    plan = plan_restart(context, agent_named("mover", context.fleet), node)
    apply_restart(context, plan, SILENT)


def test_the_controller_is_asked_and_nothing_is_evicted(
    context: StubbedContext, cluster: StubCluster
) -> None:
    held: list[bool] = []

    def roll_out(method: str, path: str) -> None:
        held.append(context.is_locked)
        del cluster.objects[PODS]["mover-1"], cluster.objects[PODS]["mover-2"]
        pod(cluster, "mover-3", "worker-1")
        pod(cluster, "mover-4", "worker-2")

    cluster.after_write = roll_out
    restart(context)
    assert cluster.writes == [("PATCH", f"{DEPLOYMENTS}/mover")]
    (body,) = cluster.bodies
    template: dict[str, Any] = body["spec"]["template"]
    assert list(template["metadata"]["annotations"]) == [RESTARTED_AT]
    assert body["metadata"]["uid"] == "uid-mover"
    assert held == [True]


def test_pods_that_the_controller_does_not_replace_are_waited_for(
    context: StubbedContext, cluster: StubCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pods_module, "HEALTHY_SECONDS", 0.0)

    def replace_one(method: str, path: str) -> None:
        cluster.objects[PODS].pop("mover-1", None)

    cluster.after_write = replace_one
    with pytest.raises(Exception, match="pod mover-2 does not terminate"):
        restart(context)


def test_the_pods_of_one_node_are_evicted(context: StubbedContext, cluster: StubCluster) -> None:
    restart(context, node="worker-2")
    assert cluster.writes == [("POST", f"{PODS}/mover-2/eviction")]
    assert list(cluster.objects[PODS]) == ["mover-1"]


def test_the_pod_of_a_sandbox_is_evicted_as_it_has_no_restart_field(
    context: StubbedContext, cluster: StubCluster
) -> None:
    cluster.objects[PODS].clear()
    pod(cluster, "mover-1", "worker-1", owner="Sandbox")
    plan = plan_restart(context, agent_named("mover", context.fleet))
    assert [(step.operation, str(step.ref)) for step in plan.steps] == [
        ("restart", "Deployment cx/mover"),
        ("evict", "Pod cx/mover-1"),
    ]


def test_an_agent_without_pods_has_nothing_to_restart(
    context: StubbedContext, cluster: StubCluster
) -> None:
    cluster.objects[PODS].clear()
    with pytest.raises(InputError, match="mover has no pods"):
        restart(context)
    assert cluster.writes == []
