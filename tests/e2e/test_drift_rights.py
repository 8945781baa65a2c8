"""A scan with exactly the rights that `holdfast drift rbac` prints, and with fewer."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import ExitCode

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

ACCOUNT = "reader"


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    copy = FleetProject.copy(tmp_path_factory.mktemp("rights"), sandbox)
    copy.stack().init_if_absent()
    copy.stack().up()
    return copy


@pytest.fixture
def restricted(kubectl: Kubectl, namespace: str, tmp_path: Path) -> Path:
    """Kubeconfig of a service account that may do nothing yet."""
    kubectl("-n", namespace, "create", "serviceaccount", ACCOUNT)
    token = kubectl("-n", namespace, "create", "token", ACCOUNT).strip()
    config: dict[str, Any] = json.loads(kubectl("config", "view", "--raw", "-o", "json"))
    config["users"] = [{"name": ACCOUNT, "user": {"token": token}}]
    config["contexts"][0]["context"]["user"] = ACCOUNT
    file = tmp_path / "restricted.kubeconfig"
    file.write_text(json.dumps(config))
    return file


def grant(project: FleetProject, kubectl: Kubectl, namespace: str, *options: str) -> None:
    account = f"{namespace}/{ACCOUNT}"
    printed = project.holdfast("drift", "rbac", "-s", "dev", "--service-account", account, *options)
    assert printed.returncode == 0, printed.stderr
    kubectl("apply", "--server-side", "-f", "-", stdin=printed.stdout)


@pytest.mark.parametrize(
    "options", [(), ("--namespaced",), ("--probes",)], ids=["cluster", "namespaced", "probes"]
)
def test_the_printed_rights_are_enough_and_none_too_many(
    project: FleetProject,
    kubectl: Kubectl,
    namespace: str,
    restricted: Path,
    options: tuple[str, ...],
) -> None:
    def scan(*more: str) -> tuple[int, dict[str, Any]]:
        return project.drift("--kubeconfig", str(restricted), *more)

    code, report = scan()
    assert (code, report["complete"]) == (ExitCode.ERROR, False)
    assert any(
        "forbidden: grant get and list on" in each["reason"] for each in report["notChecked"]
    )
    assert report["findings"] == []

    grant(project, kubectl, namespace, *options)
    account = f"system:serviceaccount:{namespace}:{ACCOUNT}"
    code, report = scan("--engine")
    assert (code, report["notChecked"], report["findings"]) == (0, [], [])
    asked = ("auth", "can-i", "--as", account, "-n", "cx")
    with_probes = "yes" if "--probes" in options else "no"
    for verb, kind, answer in (
        ("list", "deployments", "yes"),
        ("list", "nodes", with_probes),
        ("list", "runtimeclasses.node.k8s.io", with_probes),
        ("get", "services --subresource=proxy", with_probes),
        ("create", "services --subresource=proxy", "no"),
        ("get", "secrets", "no"),
        ("patch", "deployments", "no"),
    ):
        assert kubectl.run(*asked, verb, *kind.split()).stdout.strip() == answer, (verb, kind)

    # Pulumi's own comparison with these rights says 7, not 1: it cannot dry-run, so it compares.
    kubectl("set", "image", "deployment/support-rag", "-n", "cx", "agent=x:hotfix", user="alice")
    try:
        code, report = scan("--engine")
        assert code == ExitCode.DRIFT
        assert report["findings"][0]["seenBy"] == ["holdfast", "pulumi"]
    finally:
        assert project.holdfast("drift", "revert", "-s", "dev", "--yes").returncode == 0
        for kind in ("clusterrole", "clusterrolebinding"):
            kubectl("delete", kind, "holdfast-drift-dev", "--ignore-not-found")
        label = "app.kubernetes.io/instance=holdfast-drift"
        kubectl("delete", "role,rolebinding", "-A", "-l", label)
