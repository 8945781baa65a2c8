"""A cluster that lacks a kind which an agent needs: said at preview, before anything is made."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.errors import EngineError

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

ROUTED = f"""
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: triage, namespace: routed}}
spec:
  version: 1.0.0
  image: registry.example/agent@sha256:{"0" * 64}
  network:
    expose: {{gatewayRef: {{namespace: edge, name: public}}, hosts: [triage.example.com]}}
"""
SETTINGS = {
    "controllers": ["gateway-api"],
    "network": {"gateway": {"namespace": "edge", "podLabels": {"app": "gateway"}}},
}


@pytest.fixture
def project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FleetProject]:
    """A routed agent on a sandbox of its own that knows Kubernetes' kinds only."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("HOLDFAST_STATE", str(state))
    bare = LiveSandbox.start(f"bare-{secrets.token_hex(4)}", state)
    yield FleetProject.write(tmp_path, bare, ROUTED, SETTINGS)
    bare.stop()


def test_a_missing_kind_is_named_with_what_to_install_and_comes_with_it(
    project: FleetProject,
) -> None:
    stack = project.stack()
    assert stack.init_if_absent()
    with pytest.raises(EngineError) as refused:
        stack.preview()
    said = str(refused.value)
    kind = "gateway.networking.k8s.io/v1 HTTPRoute of Gateway API"
    remedy = f"run 'holdfast sandbox up --name {project.sandbox.name} --with gateway-api'"
    assert f"{kind}, needed by agent triage" in said
    assert remedy in said
    assert "Traceback" not in said

    checked = project.holdfast("validate", "-s", "dev", "--cluster")
    assert checked.returncode == 2
    assert (
        f"agents/declared.yaml:4:18: error: expected a cluster that knows {kind}" in checked.stdout
    )
    assert remedy in checked.stdout
    assert project.holdfast("validate", "-s", "dev").returncode == 0

    assert project.sandbox.run("up", "--with", "gateway-api").returncode == 0
    assert project.holdfast("validate", "-s", "dev", "--cluster").returncode == 0
    stack.up()
    route = Kubectl(project.sandbox).get("httproute", "triage", "-n", "routed")
    assert route["spec"]["hostnames"] == ["triage.example.com"]
    assert not stack.up().steps
    code, report = project.drift()
    assert code == 0, report
