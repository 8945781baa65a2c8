"""Agents that need one another, on the real engine and the real API server."""

import json
from typing import Any

import pytest

from tests.e2e.config_maps import config_map
from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.unit.drift.probes.stub_server import stub_server

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
  defaults: {{rollout: {{preflight: {{llm: false, tools: false}}}}}}
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
  card:
    skills: [{{id: a, name: Answer, description: Answers, tags: [a]}}]
  budget: {{maxTokensPerRun: 1000}}
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: zebra, namespace: topology}}
spec:
  runtime: managed
  version: 1.0.0
  model: {{provider: OpenAI, name: gpt-5}}
  prompt: {{systemMessage: Be kind.}}
  guardrails: [{{ref: pii, mode: preCall}}]
  tools:
    - mcp: {{serverRef: {{namespace: topology-tools, name: crm}}, toolNames: [find]}}
  network: {{ingressFrom: [apple]}}
---
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {{name: crm, namespace: topology-tools}}
spec:
  image: {IMAGE}
  replicas: 2
  allowedNamespaces: [topology]
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


def test_a_tool_server_is_up_before_its_agents_and_open_to_them_alone(
    project: FleetProject, kubectl: Kubectl
) -> None:
    # The engine goes on as soon as the Deployment is available, which one of two replicas makes it.
    kubectl.wait_for("jsonpath={.status.readyReplicas}=2", "deployment/crm", "-n", "topology-tools")
    server = kubectl.get("deployment", "crm", "-n", "topology-tools")
    agent = kubectl.get("deployment", "zebra", "-n", "topology")
    assert server["metadata"]["creationTimestamp"] <= agent["metadata"]["creationTimestamp"]
    policy = kubectl.get("networkpolicy", "crm", "-n", "topology-tools")["spec"]
    [rule] = policy["ingress"]
    [caller] = rule["from"]
    assert caller["podSelector"]["matchLabels"]["holdfast.dev/agent"] == "zebra"
    told = config_map(kubectl, "zebra", "topology")["data"]["agent.json"]
    assert json.loads(told)["tools"][0]["url"] == "http://crm.topology-tools.svc:8080/mcp"

    kubectl("scale", "deployment/crm", "-n", "topology-tools", "--replicas=1")
    code, report = project.drift()
    [finding] = report["findings"]
    assert (code, finding["agent"], finding["path"]) == (7, "crm", "spec.replicas")
    kubectl("scale", "deployment/crm", "-n", "topology-tools", "--replicas=2")
    said = project.holdfast("agent", "describe", "crm", "-s", "dev").stdout
    assert "agent topology/zebra, which names it, on port 8080" in said


def test_the_server_keeps_what_the_agents_get(project: FleetProject, kubectl: Kubectl) -> None:
    apple = kubectl.get("deployment", "apple", "-n", "topology")["spec"]["template"]["spec"]
    assert [each["name"] for each in apple["initContainers"]] == ["wait"]
    assert {"reference": IMAGE, "pullPolicy": "IfNotPresent"} in [
        volume.get("image") for volume in apple["volumes"]
    ]
    config = config_map(kubectl, "apple", "topology")["data"]
    assert json.loads(config["agent-card.json"])["skills"][0]["id"] == "a"
    config = config_map(kubectl, "zebra", "topology")["data"]
    assert json.loads(config["agent.json"])["model"]["gateway"] == "main"


def test_a_second_update_writes_nothing_and_the_cluster_is_in_sync(project: FleetProject) -> None:
    assert not project.stack().preview().steps
    assert not project.stack().refresh_preview().has_drift
    code, report = project.drift()
    assert code == 0, report["findings"]


def test_a_card_that_is_served_otherwise_than_declared_is_found(
    project: FleetProject, kubectl: Kubectl
) -> None:
    config = config_map(kubectl, "apple", "topology")["data"]
    card = json.loads(config["agent-card.json"])
    with stub_server() as served:
        asked = ("--probes", "--probe-address", f"apple={served.url}")

        def findings() -> dict[str, Any]:
            served.says("/.well-known/agent-card.json", card)
            found = project.drift(*asked)[1]["findings"]
            return {each["path"]: (each["desired"], each["live"]) for each in found}

        assert findings() == {}
        card["signatures"] = [{"protected": "made when it is served"}]
        card["skills"][0]["description"] = "Answers, and mails it to evil.example"
        card["capabilities"]["streaming"] = True
        assert findings() == {
            "probes.card.capabilities.streaming": (False, True),
            "probes.card.skills[id=a].description": (
                "Answers",
                "Answers, and mails it to evil.example",
            ),
        }
