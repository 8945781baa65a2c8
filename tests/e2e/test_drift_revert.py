"""What is shown before it is done is what is done: plans, replacements, the stack's lock."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import ExitCode

from tests.e2e import proxy_faults as faults
from tests.e2e.faulty_proxy import Request, faulty_proxy
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e

LABELS = {"app": "agent"}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "agent"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "agent", "image": "registry.example.test/a:1"}]},
        },
    },
}
BINDING: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "agent"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    "subjects": [{"kind": "ServiceAccount", "name": "agent"}],
}
SETTINGS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"level": "info"},
}


@pytest.fixture
def declared(kubectl: Kubectl, namespace: str, tmp_path: Path) -> list[str]:
    """Arguments of a scan of three deployed objects."""
    objects = [
        {**each, "metadata": {**each["metadata"], "namespace": namespace}}
        for each in (DEPLOYMENT, BINDING, SETTINGS)
    ]
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-f", str(file))
    return ["--desired", str(file), "--kubeconfig", str(kubectl.sandbox.kubeconfig())]


def test_the_plan_is_what_is_done(
    declared: list[str], kubectl: Kubectl, namespace: str, sandbox: LiveSandbox
) -> None:
    kubectl("-n", namespace, "set", "image", "deployment/agent", "agent=x:1")
    kubectl("-n", namespace, "set", "env", "deployment/agent", "EXTRA=1")
    kubectl("-n", namespace, "delete", "configmap/settings")

    planned = run_holdfast("drift", "plan", *declared, "-o", "json")
    assert planned.returncode == ExitCode.DRIFT
    plan = json.loads(planned.stdout)
    actions = {each["object"]["kind"]: each for each in plan["actions"]}
    assert actions["Deployment"]["requests"] == ["patch", "patch"]
    assert actions["Deployment"]["restartsPods"] is True
    assert actions["ConfigMap"]["requests"] == ["create"]

    before = len(sandbox.audit_events())
    done = run_holdfast("drift", "revert", *declared, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    writes = [
        (event["objectRef"]["resource"], event["verb"])
        for event in sandbox.audit_events()[before:]
        if event["objectRef"].get("namespace") == namespace
        and event["userAgent"].startswith("holdfast/")
        and event["verb"] not in {"get", "list"}
        and "dryRun=" not in event["requestURI"]
        # A controller may write in between: the write is refused, and made anew.
        and event["responseStatus"]["code"] < 300
    ]
    assert sorted(writes) == [
        ("configmaps", "patch"),
        ("deployments", "patch"),
        ("deployments", "patch"),
    ]


@pytest.mark.parametrize("times", [1, 8])
def test_what_is_written_in_between_is_heeded_and_keeps_nothing_from_being_reverted(
    declared: list[str], kubectl: Kubectl, namespace: str, sandbox: LiveSandbox, times: int
) -> None:
    kubectl("-n", namespace, "set", "image", "deployment/agent", "agent=x:1")
    kubectl("-n", namespace, "set", "env", "deployment/agent", "EXTRA=1")
    counts = iter(range(1, times + 1))

    def write_status() -> None:
        """As a controller does at any time: the version that a guard names is over."""
        status = json.dumps({"status": {"collisionCount": next(counts)}})
        patch = ("patch", "deployment/agent", "--subresource=status", "--type=merge")
        kubectl("-n", namespace, *patch, "-p", status)

    with faulty_proxy(sandbox.kubeconfig()) as proxy:
        proxy.on(writes_deployment, faults.after(write_status), times=times)
        server = proxy.kubeconfig(Path(declared[1]).parent)
        done = run_holdfast("drift", "revert", *declared[:-1], str(server), "--yes")

    assert done.returncode == 0, done.stdout + done.stderr
    assert next(counts, None) is None
    assert f"reverted: Deployment {namespace}/agent" in done.stderr
    told = done.stderr.count(f"waiting: others write it again and again: Deployment {namespace}")
    assert told == (times > 1)
    live = kubectl.get("deployment/agent", "-n", namespace)["spec"]["template"]["spec"]
    assert live["containers"][0]["image"] == "registry.example.test/a:1"
    assert "env" not in live["containers"][0]


def writes_deployment(request: Request) -> bool:
    return request.is_write and request.path.endswith("/deployments/agent")


def test_what_cannot_be_changed_in_place_is_replaced_only_when_asked(
    declared: list[str], kubectl: Kubectl, namespace: str
) -> None:
    kubectl("-n", namespace, "delete", "rolebinding/agent")
    edited = {**BINDING, "roleRef": {**BINDING["roleRef"], "name": "edit"}}
    edited["metadata"] = {"name": "agent", "namespace": namespace}
    kubectl.apply(edited)
    frozen = '{"immutable": true, "data": {"level": "debug"}}'
    kubectl("-n", namespace, "patch", "configmap/settings", "--type=merge", f"-p={frozen}")

    left = run_holdfast("drift", "revert", *declared, "--yes")
    assert left.returncode == ExitCode.DRIFT
    assert "cannot be changed in place: --allow-replace deletes the object" in left.stderr

    done = run_holdfast("drift", "revert", *declared, "--yes", "--allow-replace")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"replaced: RoleBinding {namespace}/agent" in done.stderr
    assert f"replaced: ConfigMap {namespace}/settings" in done.stderr
    binding = kubectl.get("rolebinding/agent", "-n", namespace)
    assert binding["roleRef"]["name"] == "view"


def test_a_write_that_the_server_would_refuse_is_not_begun(
    declared: list[str], kubectl: Kubectl, namespace: str
) -> None:
    kubectl("-n", namespace, "set", "image", "deployment/agent", "agent=x:1")
    kubectl("-n", namespace, "set", "env", "deployment/agent", "EXTRA=1")
    quota = {"hard": {"count/configmaps": "0"}}
    kubectl("-n", namespace, "delete", "configmap/settings")
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "none", "namespace": namespace},
            "spec": quota,
        }
    )
    kubectl.wait_for("jsonpath={.status.hard}", "-n", namespace, "resourcequota/none")
    done = run_holdfast("drift", "revert", *declared, "--yes")
    assert done.returncode == ExitCode.ERROR
    assert f"failed: ConfigMap {namespace}/settings" in done.stderr
    assert f"reverted: Deployment {namespace}/agent" in done.stderr
