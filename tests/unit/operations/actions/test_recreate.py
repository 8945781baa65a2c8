"""Objects of an agent recreated as declared."""

import pytest
from holdfast.errors import ClusterError, InputError
from holdfast.operations.actions.recreate import plan_recreate
from holdfast.operations.stack.context import agent_named

from tests.unit.operations.actions.stub_cluster import (
    DEPLOYMENTS,
    StubbedContext,
    StubCluster,
)

VOLUME = "  storage: {volumes: [{name: data, size: 1Gi, mountPath: /data}]}\n"


def declare_rollout(context: StubbedContext) -> None:
    """An agent whose workload is a custom resource."""
    file = context.root / "agents" / "mover.yaml"
    file.write_text(file.read_text().replace(VOLUME, "  rollout: {strategy: BlueGreen}\n"))
    stack = context.root / "stacks" / "Pulumi.prod.yaml"
    stack.write_text(stack.read_text().replace("volume-snapshots", "argo-rollouts"))


def test_a_kind_that_the_cluster_does_not_serve_is_one_clear_error(
    context: StubbedContext,
) -> None:
    declare_rollout(context)
    with pytest.raises(ClusterError, match="the cluster does not serve Rollout"):
        plan_recreate(context, agent_named("mover", context.fleet), is_whole=False)


def test_what_runs_another_revision_is_left_alone(
    context: StubbedContext, cluster: StubCluster
) -> None:
    annotations = {"holdfast.dev/revision": "another"}
    cluster.add(DEPLOYMENTS, "mover", metadata={"annotations": annotations})
    with pytest.raises(InputError, match="Deployment cx/mover runs another revision"):
        plan_recreate(context, agent_named("mover", context.fleet), is_whole=False)
    assert cluster.writes == []


def test_what_does_not_exist_is_only_created(context: StubbedContext) -> None:
    plan = plan_recreate(context, agent_named("mover", context.fleet), is_whole=False)
    assert [(step.operation, str(step.ref)) for step in plan.steps] == [
        ("create", "Deployment cx/mover")
    ]
