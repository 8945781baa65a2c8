"""The sandbox on the real thing: what its users rely on, seen through the command line."""

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e


def deployment(name: str, namespace: str, replicas: int = 2) -> dict[str, object]:
    container = {"name": "main", "image": "registry.example/main:1"}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def test_up_on_a_running_sandbox_says_so_and_changes_nothing(sandbox: LiveSandbox) -> None:
    before = sandbox.pids()

    again = sandbox.run("up")

    assert again.returncode == 0
    assert "already running" in again.stderr
    assert sandbox.pids() == before


def test_three_nodes_are_ready_and_one_has_gpus(kubectl: Kubectl) -> None:
    nodes = kubectl.get("nodes")["items"]

    assert len(nodes) == 3
    assert [node["status"]["allocatable"].get("nvidia.com/gpu", "0") for node in nodes] == [
        "0",
        "0",
        "8",
    ]


def test_a_deployment_rolls_out(kubectl: Kubectl, namespace: str) -> None:
    kubectl.apply(deployment("web", namespace))

    kubectl("rollout", "status", "deployment/web", "-n", namespace, "--timeout=30s")


@pytest.mark.parametrize("user", ["alice", "bob"])
def test_alice_may_edit_workloads_and_bob_may_not(
    kubectl: Kubectl, namespace: str, user: str
) -> None:
    kubectl.apply(deployment("web", namespace))

    done = kubectl.run("scale", "deployment/web", "--replicas=3", "-n", namespace, user=user)

    assert (done.returncode == 0) is (user == "alice")
    assert kubectl.run("get", "deployments", "-A", user=user).returncode == 0
