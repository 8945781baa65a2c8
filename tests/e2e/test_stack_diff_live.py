"""The same manifests in two clusters: what one has made otherwise, what one hand did on both."""

import json
import os
import secrets
import signal
from typing import Any

import pytest
from holdfast.errors import ExitCode

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

AGENTS = f"""
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: porter, namespace: front}}
spec:
  type: Service
  version: 1.0.0
  owner: care
  image: registry.example/agents/porter@sha256:{"4" * 64}
  container:
    resources:
      requests: {{cpu: 100m, memory: 128Mi, ephemeral-storage: 1Gi}}
      limits: {{cpu: 200m, memory: 256Mi, ephemeral-storage: 2Gi}}
"""
EXTRA = "spec.template.spec.containers[name=agent].env[name=EXTRA]"


def test_two_stacks_are_compared_and_scanned_together(
    sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = LiveSandbox.start(f"e2e-{secrets.token_hex(4)}", sandbox.state)
    try:
        project = FleetProject.write(tmp_path_factory.mktemp("two"), sandbox, AGENTS, {})
        stacks = project.root / "stacks"
        text = (stacks / "Pulumi.dev.yaml").read_text()
        (stacks / "Pulumi.twin.yaml").write_text(text.replace(sandbox.context, other.context))
        for stack, place in (("dev", sandbox), ("twin", other)):
            rendered = project.holdfast("render", "-s", stack)
            assert rendered.returncode == 0, rendered.stderr
            deploy(Kubectl(place), rendered.stdout)
        assert compared(project) == []

        Kubectl(other)("set", "env", "deployment/porter", "-n", "front", "EXTRA=1", user="alice")
        (found,) = compared(project)
        assert found["agent"] == "porter"
        assert found["path"] == f"Deployment front/porter: {EXTRA}"
        live = '{"name": "EXTRA", "value": "1"}'
        assert found["values"] == {"dev": "as rendered", "twin": live}
        unknown = project.holdfast("diff", "dev", "twin", "stranger", "--source", "live")
        assert unknown.returncode == ExitCode.BAD_INPUT

        Kubectl(sandbox)("set", "env", "deployment/porter", "-n", "front", "EXTRA=1", user="alice")
        code, report = scanned_together(project)
        assert code == ExitCode.DRIFT
        (cause,) = report["causes"]
        assert cause["stacks"] == ["dev", "twin"]
        assert cause["summary"].endswith("by alice@example.test through kubectl-set on 2 stacks")
        assert report["counts"]["sync"] == {"Synced": 0, "OutOfSync": 2, "Unknown": 0}
        assert report["counts"]["health"]["Unknown"] == 0
        os.kill(other.pids()["kube-apiserver"], signal.SIGKILL)
        code, report = scanned_together(project)
        assert code == ExitCode.ERROR
        dev, twin = report["stacks"]
        assert (dev["report"]["complete"], twin["report"]["complete"]) == (True, False)
        (agent,) = twin["agents"]
        assert (agent["sync"], agent["health"]) == ("Unknown", "Unknown")
        log = str(project.sandbox.audit_log)
        refused = project.holdfast("drift", "-s", "dev", "-s", "twin", "--audit-log", log)
        assert refused.returncode == ExitCode.BAD_INPUT, refused.stderr
        assert "these stacks live on several: dev on https://" in refused.stderr
    finally:
        other.stop()


def deploy(kubectl: Kubectl, objects: str) -> None:
    if kubectl.run("get", "namespace", "front").returncode:
        kubectl("create", "namespace", "front")
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-f", "-", stdin=objects)


def scanned_together(project: FleetProject) -> tuple[int, dict[str, Any]]:
    done = project.holdfast("drift", "-s", "dev", "-s", "twin", "--request-timeout", "5",
                            "-o", "json")  # fmt: skip
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report


def compared(project: FleetProject) -> list[dict[str, object]]:
    done = project.holdfast("diff", "dev", "twin", "--source", "live", "-o", "json")
    assert done.returncode == ExitCode.OK, done.stderr
    document: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return document["differences"]
