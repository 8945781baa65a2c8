"""Agents that need one another, on the real engine and the real API server."""

import json

import pytest

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

DIGEST = "3c8e1f2a4b5d6c7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e"
IMAGE = f"registry.example/any@sha256:{DIGEST}"
SETTINGS = {
    "images": {"tools": IMAGE, "runtime": IMAGE},
    "models": {"gateway": "main", "gateways": {"main": {"url": "http://gate.platform.svc:4000"}}},
}
MANIFESTS = f"""\
apiVersion: holdfast.dev/v1alpha1
kind: AgentTeam
metadata: {{name: team, namespace: topology}}
spec:
  owner: sre
  members: [apple, zebra]
  defaults: {{lifecycle: {{postStartCheck: {{llm: false, tools: false}}}}}}
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: apple, namespace: topology}}
spec:
  version: 1.0.0
  image: {IMAGE}
  dependsOn: [zebra]
  skills:
    - {{name: triage, oci: "{IMAGE}", path: skills/triage}}
  a2a:
    skills: [{{id: a, name: Answer, description: Answers, tags: [a]}}]
  budget: {{maxTokensPerRun: 1000}}
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: zebra, namespace: topology}}
spec:
  type: Declarative
  version: 1.0.0
  model: {{provider: OpenAI, name: gpt-5}}
  prompt: {{systemMessage: Be kind.}}
  guardrails: [{{ref: pii, mode: preCall}}]
  network: {{ingressFrom: [apple]}}
"""


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """Two agents of one team, the first in the alphabet in need of the last; deployed."""
    root = tmp_path_factory.mktemp("topology")
    written = FleetProject.write(root, sandbox, MANIFESTS, SETTINGS)
    stack = written.stack()
    assert stack.init_if_absent()
    stack.up()
    return written


def test_what_is_needed_is_deployed_first(project: FleetProject, kubectl: Kubectl) -> None:
    found = kubectl.get("deployments", "-n", "topology")["items"]
    made = {each["metadata"]["name"]: each for each in found}
    ready = next(
        condition["lastTransitionTime"]
        for condition in made["zebra"]["status"]["conditions"]
        if condition["type"] == "Available"
    )
    assert ready <= made["apple"]["metadata"]["creationTimestamp"]
    labels = {each["metadata"]["labels"]["holdfast.dev/owner"] for each in found}
    assert labels == {"sre"}, "the owner comes from the team"


def test_the_server_keeps_what_is_told_to_the_agents(
    project: FleetProject, kubectl: Kubectl
) -> None:
    apple = kubectl.get("deployment", "apple", "-n", "topology")["spec"]["template"]["spec"]
    assert [each["name"] for each in apple["initContainers"]] == ["wait"]
    assert {"reference": IMAGE, "pullPolicy": "IfNotPresent"} in [
        volume.get("image") for volume in apple["volumes"]
    ]
    config = kubectl.get("configmap", "apple-config", "-n", "topology")["data"]
    assert json.loads(config["agent-card.json"])["skills"][0]["id"] == "a"
    config = kubectl.get("configmap", "zebra-config", "-n", "topology")["data"]
    assert json.loads(config["agent.json"])["model"]["gateway"] == "main"


def test_a_second_update_writes_nothing_and_the_cluster_is_in_sync(project: FleetProject) -> None:
    assert not project.stack().preview().has_changes
    assert not project.stack().refresh_preview().has_drift
    code, report = project.drift()
    assert code == 0, report["findings"]
