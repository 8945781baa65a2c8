"""What runs in a declared namespace although nobody declared it."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e


@pytest.fixture
def declared(kubectl: Kubectl, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A namespace of the declaration's own, and a Deployment whose pods run in it."""
    name = f"owned-{secrets.token_hex(4)}"
    labels = {"app": "agent"}
    container = {"name": "agent", "image": "registry.example.test/agent:1"}
    objects: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "agent", "namespace": name},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
    ]
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-f", str(file))
    kubectl("-n", name, "rollout", "status", "deployment/agent", "--timeout=60s")
    yield name, file
    kubectl("delete", "namespace", name, "--wait=false")


def test_a_rogue_pod_is_found_and_the_agents_own_pods_are_not(
    declared: tuple[str, Path], kubectl: Kubectl, sandbox: LiveSandbox
) -> None:
    namespace, file = declared
    arguments = ["drift", "--desired", str(file), "--kubeconfig", str(sandbox.kubeconfig())]
    assert run_holdfast(*arguments).returncode == 0

    kubectl("-n", namespace, "run", "rogue", "--image=registry.example.test/tap:1", user="alice")
    done = run_holdfast(*arguments, "--audit-log", str(sandbox.audit_log), "-o", "json")
    assert done.returncode == 7
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["class"], finding["object"]["kind"]) == ("unmanaged", "Pod")
    assert finding["actors"][0]["user"] == "alice@example.test"

    reverted = run_holdfast("drift", "revert", *arguments[1:], "--yes")
    assert "not declared: declare it, or delete it" in reverted.stderr
    assert reverted.returncode == 7


def running_pod(kubectl: Kubectl, namespace: str) -> dict[str, Any]:
    pods: dict[str, Any] = json.loads(kubectl("-n", namespace, "get", "pods", "-o", "json"))
    return next(each for each in pods["items"] if each["metadata"].get("ownerReferences"))


def forged(pod: dict[str, Any]) -> str:
    """A pod that names the same owner, and runs something else."""
    metadata = pod["metadata"]
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{metadata['name'][:-5]}forge",
                "namespace": metadata["namespace"],
                "labels": metadata["labels"],
                "ownerReferences": metadata["ownerReferences"],
            },
            "spec": {"containers": [{"name": "agent", "image": "evil.example.test/x:1"}]},
        }
    )


DEBUGGER = {"name": "debugger", "image": "registry.example.test/shell:1"}


@pytest.mark.parametrize(
    ("patch", "subresource", "path"),
    [
        pytest.param(
            {"spec": {"containers": [{"name": "agent", "image": "evil.example.test/x:1"}]}},
            "", "spec.containers[name=agent].image", id="another image",
        ),
        pytest.param(
            {"spec": {"ephemeralContainers": [DEBUGGER]}},
            "ephemeralcontainers", "spec.ephemeralContainers[name=debugger]", id="a debugger",
        ),
        pytest.param(
            {"metadata": {"labels": {"app2": "other"}}}, "", "metadata.labels.app2", id="a label",
        ),
    ],
)  # fmt: skip
def test_a_running_pod_that_was_patched_is_drift(
    patch: dict[str, Any],
    subresource: str,
    path: str,
    declared: tuple[str, Path],
    kubectl: Kubectl,
    sandbox: LiveSandbox,
) -> None:
    namespace, file = declared
    arguments = ["drift", "--desired", str(file), "--kubeconfig", str(sandbox.kubeconfig())]
    name = running_pod(kubectl, namespace)["metadata"]["name"]
    # The role `edit`, which alice has, does not let her attach containers.
    user = "admin" if subresource else "alice"
    more = [f"--subresource={subresource}"] if subresource else []
    kubectl("-n", namespace, "patch", "pod", name, "-p", json.dumps(patch), *more, user=user)
    done = run_holdfast(*arguments, "--audit-log", str(sandbox.audit_log), "-o", "json")
    found = json.loads(done.stdout)["findings"]
    (finding,) = (each for each in found if each["severity"] != "info")
    assert (finding["object"]["name"], finding["path"]) == (name, path)
    assert user in finding["actors"][0]["user"]

    reverted = run_holdfast("drift", "revert", *arguments[1:], "--yes")
    assert "delete it, and the controller recreates it as declared" in reverted.stderr
    kubectl("-n", namespace, "delete", "pod", name, "--wait=true", "--grace-period=0", "--force")
    kubectl("-n", namespace, "rollout", "status", "deployment/agent", "--timeout=60s")
    assert run_holdfast(*arguments).returncode == 0


def test_a_pod_that_only_names_its_owner_is_drift_while_it_is_there(
    declared: tuple[str, Path], kubectl: Kubectl, sandbox: LiveSandbox, tmp_path: Path
) -> None:
    namespace, file = declared
    arguments = ["drift", "--desired", str(file), "--kubeconfig", str(sandbox.kubeconfig())]
    # Nobody scales the ReplicaSet down by the pod: the Deployment's own pod is gone first.
    pod = running_pod(kubectl, namespace)
    made = tmp_path / "forged.json"
    made.write_text(forged(pod))
    kubectl("-n", namespace, "delete", "pod", pod["metadata"]["name"], "--force", "--wait=false")
    kubectl("create", "-f", str(made), user="alice")
    done = run_holdfast(*arguments, "-o", "json")
    found = {(each["object"]["kind"], each["path"]) for each in json.loads(done.stdout)["findings"]}
    there = kubectl("-n", namespace, "get", "pods", "-o", "name")
    assert "forge" not in there or ("Pod", "spec.containers[name=agent].image") in found


def rogue(api_version: str, kind: str, name: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


POD_SPEC = {"containers": [{"name": "tap", "image": "registry.example.test/tap:1"}]}
TEMPLATE = {"metadata": {"labels": {"app": "tap"}}, "spec": POD_SPEC}
SELECTOR = {"matchLabels": {"app": "tap"}}
RBAC = "rbac.authorization.k8s.io/v1"
ADMIN = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
OF_NO_STACK = {
    "app.kubernetes.io/managed-by": "holdfast",
    "app.kubernetes.io/instance": "nosuchstack",
}


def rogues(namespace: str) -> list[dict[str, Any]]:
    """One object of each power, hidden by what a client can write, where it can."""
    accounts = [{"kind": "Group", "name": f"system:serviceaccounts:{namespace}"}]
    return [
        rogue("apps/v1", "ReplicaSet", "set",
              spec={"replicas": 0, "selector": SELECTOR, "template": TEMPLATE}),
        rogue("v1", "ReplicationController", "old",
              spec={"replicas": 0, "selector": {"app": "tap"}, "template": TEMPLATE}),
        rogue("batch/v1", "CronJob", "nightly", metadata={"labels": OF_NO_STACK},
              spec={"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": {"template":
                    {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}}}),
        rogue("discovery.k8s.io/v1", "EndpointSlice", "slice", addressType="IPv4", endpoints=[],
              metadata={"labels": {"kubernetes.io/service-name": "agent"}}),
        rogue(RBAC, "RoleBinding", "admin", roleRef=ADMIN, subjects=accounts,
              metadata={"labels": OF_NO_STACK}),
        rogue(RBAC, "ClusterRoleBinding", f"admin-{namespace}", roleRef=ADMIN, subjects=accounts),
        rogue("v1", "ServiceAccount", "thief"),
        rogue("v1", "Secret", "token", type="kubernetes.io/service-account-token",
              metadata={"annotations": {"kubernetes.io/service-account.name": "thief"}}),
        rogue("v1", "ResourceQuota", "none", spec={"hard": {"count/jobs.batch": "0"}}),
        rogue("v1", "LimitRange", "tiny",
              spec={"limits": [{"type": "Container", "max": {"cpu": "4"}}]}),
        rogue("policy/v1", "PodDisruptionBudget", "stuck",
              spec={"maxUnavailable": 0, "selector": {"matchLabels": {"app": "agent"}}}),
        rogue("autoscaling/v2", "HorizontalPodAutoscaler", "more", spec={
            "maxReplicas": 1,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "agent"}}),
        rogue("networking.k8s.io/v1", "NetworkPolicy", "open",
              spec={"podSelector": {}, "ingress": [{}], "egress": [{}]}),
    ]  # fmt: skip


@pytest.fixture
def hidden(
    declared: tuple[str, Path], kubectl: Kubectl, tmp_path: Path
) -> Iterator[tuple[Path, set[tuple[str, str]]]]:
    """What a colleague with rights in the namespace, and one in the cluster, has created."""
    namespace, file = declared
    objects = rogues(namespace)
    made = tmp_path / "rogues.json"
    made.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    kubectl("-n", namespace, "apply", "-f", str(made))
    default = ("-n", namespace, "annotate", "serviceaccount", "default")
    kubectl(*default, "eks.amazonaws.com/role-arn=arn:aws:iam::1:role/admin")
    expected = {(one["kind"], one["metadata"]["name"]) for one in objects}
    yield file, expected | {("ServiceAccount", "default")}
    kubectl("delete", "clusterrolebinding", f"admin-{namespace}")


def test_nothing_with_power_over_the_namespace_hides(
    hidden: tuple[Path, set[tuple[str, str]]], sandbox: LiveSandbox
) -> None:
    file, expected = hidden
    kubeconfig = str(sandbox.kubeconfig())
    done = run_holdfast("drift", "--desired", str(file), "--kubeconfig", kubeconfig, "-o", "json")
    assert done.returncode == 7, done.stderr
    findings = json.loads(done.stdout)["findings"]
    found = {(each["object"]["kind"], each["object"]["name"]) for each in findings}
    assert found == expected
    assert {each["class"] for each in findings} == {"unmanaged"}


def test_a_kind_that_is_declared_in_one_namespace_is_looked_for_in_the_next(
    declared: tuple[str, Path], kubectl: Kubectl, sandbox: LiveSandbox
) -> None:
    namespace, file = declared
    other = f"{namespace}-b"
    objects = json.loads(file.read_text())["items"]
    objects += [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}},
        rogue("v1", "ConfigMap", "own", metadata={"namespace": namespace}, data={"a": "b"}),
        rogue(RBAC, "RoleBinding", "own", metadata={"namespace": namespace}, roleRef=ADMIN,
              subjects=[]),
    ]  # fmt: skip
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-f", str(file))
    arguments = ["drift", "--desired", str(file), "--kubeconfig", str(sandbox.kubeconfig())]
    assert run_holdfast(*arguments).returncode == 0
    kubectl("-n", other, "create", "rolebinding", "x", "--clusterrole=cluster-admin", "--user=eve")
    kubectl("-n", other, "create", "configmap", "x")
    try:
        done = run_holdfast(*arguments, "-o", "json")
        found = {
            (each["object"]["kind"], each["object"]["namespace"], each["severity"])
            for each in json.loads(done.stdout)["findings"]
        }
        assert found == {("RoleBinding", other, "critical"), ("ConfigMap", other, "low")}
    finally:
        kubectl("delete", "namespace", other, "--wait=false")
