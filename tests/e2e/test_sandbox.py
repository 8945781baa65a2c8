"""What users of a sandbox rely on, on the real thing and through the command line."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

WORKLOAD = {"app": "web"}


def deployment(namespace: str) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example/main:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": WORKLOAD},
            "template": {"metadata": {"labels": WORKLOAD}, "spec": {"containers": [container]}},
        },
    }


def claim(namespace: str, storage_class: str | None) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": namespace},
        "spec": spec | ({"storageClassName": storage_class} if storage_class else {}),
    }


def pod_with_claim(namespace: str) -> dict[str, Any]:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    container = {"name": "main", "image": "registry.example/main:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "user", "namespace": namespace},
        "spec": {"containers": [container], "volumes": [volume]},
    }


def listening_addresses(pid: int) -> set[str]:
    """Addresses that a process listens on, from its open sockets and the kernel's tables."""
    listening = "0A"
    sockets = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(str(handle.readlink()))
        except FileNotFoundError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == listening and f"socket:[{fields[9]}]" in sockets:
                number = fields[1].split(":")[0]
                found.add("127.0.0.1" if number == "0100007F" else number)
    return found


def test_up_on_a_running_sandbox_says_so_and_changes_nothing(sandbox: LiveSandbox) -> None:
    before = sandbox.pids()

    again = sandbox.run("up")

    assert again.returncode == 0
    assert "already running" in again.stderr
    assert sandbox.pids() == before


def test_status_tells_programs_memory_and_where_everything_is(sandbox: LiveSandbox) -> None:
    status = sandbox.status()

    assert status["schemaVersion"] == "holdfast.dev/sandbox/v1"
    assert (status["state"], status["healthy"]) == ("running", True)
    assert [program["name"] for program in status["programs"]] == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
    ]
    assert all(program["residentBytes"] > 0 for program in status["programs"])
    assert status["kubeconfigs"]["bob"] == str(sandbox.kubeconfig("bob"))
    assert sandbox.run("status").returncode == 0


def test_every_program_listens_on_the_loopback_address_only(sandbox: LiveSandbox) -> None:
    addresses = {address for pid in sandbox.pids().values() for address in listening_addresses(pid)}

    assert addresses == {"127.0.0.1"}


def test_three_nodes_are_ready_and_one_has_gpus(kubectl: Kubectl) -> None:
    nodes = kubectl.get("nodes")["items"]

    gpus = [node["status"]["allocatable"].get("nvidia.com/gpu", "0") for node in nodes]
    assert gpus == ["0", "0", "8"]


def test_a_deployment_rolls_out(kubectl: Kubectl, namespace: str) -> None:
    kubectl.apply(deployment(namespace))

    kubectl("rollout", "status", "deployment/web", "-n", namespace, "--timeout=30s")


@pytest.mark.parametrize(
    "storage_class",
    [
        pytest.param(None, id="the-default-class"),
        pytest.param("sandbox-late", id="on-first-consumer"),
    ],
)
def test_a_claim_binds(kubectl: Kubectl, namespace: str, storage_class: str | None) -> None:
    kubectl.apply(claim(namespace, storage_class), pod_with_claim(namespace))

    kubectl.wait_for("jsonpath={.status.phase}=Bound", "pvc/data", "-n", namespace)
    kubectl.wait_for("condition=Ready", "pod/user", "-n", namespace)


def test_a_claim_grows(kubectl: Kubectl, namespace: str) -> None:
    kubectl.apply(claim(namespace, None))
    kubectl.wait_for("jsonpath={.status.capacity.storage}=1Gi", "pvc/data", "-n", namespace)

    larger = '{"spec": {"resources": {"requests": {"storage": "3Gi"}}}}'
    kubectl("patch", "pvc/data", "-n", namespace, "-p", larger, user="alice")

    kubectl.wait_for("jsonpath={.status.capacity.storage}=3Gi", "pvc/data", "-n", namespace)


def test_load_balancers_and_ingresses_get_an_address(kubectl: Kubectl, namespace: str) -> None:
    metadata = {"name": "web", "namespace": namespace}
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata,
            "spec": {"type": "LoadBalancer", "selector": WORKLOAD, "ports": [{"port": 80}]},
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": metadata,
            "spec": {"defaultBackend": backend},
        },
    )

    for what in ("service/web", "ingress/web"):
        kubectl.wait_for("jsonpath={.status.loadBalancer.ingress}", what, "-n", namespace)


def test_a_pod_that_lost_its_node_for_a_while_gets_ready_again(
    kubectl: Kubectl, namespace: str
) -> None:
    kubectl("run", "lonely", "--image=registry.example/main:1", "-n", namespace)
    kubectl.wait_for("condition=Ready", "pod/lonely", "-n", namespace)
    lost = (
        '{"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "NodeLost"}]}}'
    )

    patch = ("patch", "pod", "lonely", "-n", namespace, "--subresource=status", "-p", lost)
    assert "lonely" in kubectl(*patch)

    kubectl.wait_for("condition=Ready", "pod/lonely", "-n", namespace)


def test_alice_edits_workloads_and_bob_only_reads(kubectl: Kubectl, namespace: str) -> None:
    kubectl.apply(deployment(namespace))
    scale = ("scale", "deployment/web", "--replicas=3", "-n", namespace)

    refused = kubectl.run(*scale, user="bob")

    assert "Forbidden" in refused.stderr
    assert 'User "bob@example.test"' in refused.stderr
    kubectl(*scale, user="alice")
    assert kubectl.get("deployments", "-A", user="bob")["items"]


@pytest.mark.parametrize(
    ("user", "verb", "resource", "may"),
    [
        pytest.param("alice", "patch", "networkpolicies", True, id="alice-opens-a-policy"),
        pytest.param("alice", "delete", "services", True, id="alice-deletes"),
        pytest.param("alice", "create", "clusterrolebindings", False, id="alice-takes-no-power"),
        pytest.param("alice", "list", "nodes", True, id="alice-sees-nodes"),
        pytest.param("bob", "list", "nodes", True, id="bob-sees-nodes"),
        pytest.param("bob", "list", "networkpolicies", True, id="bob-sees-policies"),
        pytest.param("bob", "list", "secrets", False, id="bob-sees-no-secrets"),
        pytest.param("bob", "delete", "pods", False, id="bob-deletes-nothing"),
    ],
)
def test_what_alice_and_bob_may_do(
    kubectl: Kubectl, user: str, verb: str, resource: str, may: bool
) -> None:
    done = kubectl.run("auth", "can-i", verb, resource, "--all-namespaces", user=user)

    assert done.stdout.strip() == ("yes" if may else "no"), done.stderr


def test_the_audit_log_names_who_changed_what_and_leaves_reads_out(
    sandbox: LiveSandbox, kubectl: Kubectl, namespace: str
) -> None:
    kubectl.apply(deployment(namespace))
    kubectl("annotate", "deployment/web", "note=by-alice", "-n", namespace, user="alice")
    kubectl.run("delete", "deployment/web", "-n", namespace, user="bob")

    events = sandbox.audit_events()

    here = [
        (event["user"]["username"], event["verb"], event["responseStatus"]["code"])
        for event in events
        if event["objectRef"].get("namespace") == namespace
        and event["objectRef"]["resource"] == "deployments"
        and not event["user"]["username"].startswith("system:")
    ]
    assert here == [
        ("admin", "patch", 201),
        ("alice@example.test", "patch", 200),
        ("bob@example.test", "delete", 403),
    ]
    assert not {event["verb"] for event in events} & {"get", "list", "watch"}
    assert not {event["objectRef"]["resource"] for event in events} & {"leases", "events"}
    assert {event["level"] for event in events} == {"Metadata"}
    assert sandbox.audit_log.stat().st_mode & 0o077 == 0


def test_logs_and_kubeconfigs_are_found_by_name(sandbox: LiveSandbox) -> None:
    assert sandbox.run("kubeconfig").stdout == f"{sandbox.kubeconfig()}\n"
    assert sandbox.run("kubeconfig", "--user", "alice").stdout.endswith("/alice.kubeconfig\n")
    assert '"kind":"Event"' in sandbox.run("logs", "audit", "--lines", "1").stdout
    assert "kube-apiserver          | " in sandbox.run("logs").stdout
