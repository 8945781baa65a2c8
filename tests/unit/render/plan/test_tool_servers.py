"""A tool server that the stack runs: its objects, and who reaches it."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.tool_contracts import ServerContract, ToolContract
from holdfast.manifest.fleet.tool_lock import ToolLock, write_tool_lock
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet

from tests.unit.manifest.projects import MANIFEST, agent, write

USES = """
tools:
  - mcp: {serverRef: {namespace: tools, name: crm}, toolNames: [find]}
"""
SERVER = """\
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: crm, namespace: tools, labels: {cost-center: sales}}
spec:
  image: r.example/crm@sha256:7777777777777777777777777777777777777777777777777777777777777777
  version: 2.0.0
  owner: sales
  replicas: 2
  port: 9000
  container: {env: [{name: REGION, value: eu}]}
  secrets: [{name: crm-key, ref: crm, key: token, mountPath: /run/crm}]
  network:
    ingressFrom: [{namespace: batch}]
    egress: [{cidr: 10.20.0.0/16}]
  allowedNamespaces: [agents]
"""


@pytest.fixture
def objects(tmp_path: Path) -> dict[tuple[str, str], KubeObject]:
    write(tmp_path, "agents/crm.yaml", SERVER)
    write(tmp_path, MANIFEST, agent(spec=USES))
    rendered = render_fleet(plan_fleet(load_fleet(tmp_path), "dev"))
    return {(each.manifest["kind"], each.lasting_identity.name): each.manifest for each in rendered}


def rules(policy: KubeObject, direction: str) -> list[tuple[list[dict[str, Any]], int]]:
    """Peers and first port of every rule that has ports."""
    side = {"ingress": "from", "egress": "to"}[direction]
    found = policy["spec"][direction]
    return [(rule[side], rule["ports"][0]["port"]) for rule in found if "ports" in rule]


def pods_of(namespace: str, name: str) -> dict[str, Any]:
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {
            "matchLabels": {"holdfast.dev/agent": name, "app.kubernetes.io/instance": "dev"}
        },
    }


def test_it_is_deployed_like_an_agent_without_card_metrics_and_model(
    objects: dict[tuple[str, str], KubeObject],
) -> None:
    deployment = objects["Deployment", "crm"]
    assert deployment["metadata"]["namespace"] == "tools"
    labels = deployment["metadata"]["labels"]
    assert labels["app.kubernetes.io/component"] == "mcp-server"
    assert labels["app.kubernetes.io/version"] == "2.0.0"
    assert labels["holdfast.dev/owner"] == "sales"
    assert deployment["spec"]["replicas"] == 2
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert [port["containerPort"] for port in container["ports"]] == [9000]
    assert container["readinessProbe"]["tcpSocket"] == {"port": 9000}
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    names = {each["name"] for each in container["env"]}
    assert {"REGION"} <= names
    assert not {"AGENT_CARD_FILE", "MODEL_NAME"} & names
    assert "/run/crm" in {mount["mountPath"] for mount in container["volumeMounts"]}
    assert set(objects["ConfigMap", "crm-config"]["data"]) == {"agent.json"}
    assert ("PodDisruptionBudget", "crm") in objects
    assert ("Namespace", "tools") in objects


def test_a_server_is_asked_what_its_container_says(tmp_path: Path) -> None:
    write(
        tmp_path,
        "agents/crm.yaml",
        SERVER.replace(
            "container: {", "container: {probes: {readiness: {httpGet: {path: /health}}}, "
        ),
    )
    write(tmp_path, MANIFEST, agent(spec=USES))
    rendered = render_fleet(plan_fleet(load_fleet(tmp_path), "dev"))
    [server] = [each for each in rendered if (each.agent, each.role) == ("crm", "deployment")]
    [container] = server.manifest["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/health"
    assert container["livenessProbe"]["tcpSocket"] == {"port": 9000}


def test_agents_that_name_it_get_its_address_and_the_way_to_it(
    objects: dict[tuple[str, str], KubeObject],
) -> None:
    told = objects["ConfigMap", "triage-config"]["data"]["agent.json"]
    assert '"url": "http://crm.tools.svc:9000/mcp"' in told
    assert ([pods_of("tools", "crm")], 9000) in rules(objects["NetworkPolicy", "triage"], "egress")
    everyone = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "batch"}}}
    assert rules(objects["NetworkPolicy", "crm"], "ingress") == [
        ([everyone, pods_of("agents", "triage")], 9000)
    ]
    cidrs = [rule["to"] for rule in objects["NetworkPolicy", "crm"]["spec"]["egress"]]
    assert [{"ipBlock": {"cidr": "10.20.0.0/16"}}] in cidrs


def test_it_is_deployed_before_the_agents_that_use_it(tmp_path: Path) -> None:
    write(tmp_path, "agents/crm.yaml", SERVER)
    write(tmp_path, MANIFEST, agent(spec=USES))
    plan = plan_fleet(load_fleet(tmp_path), "dev")
    assert [each.meta.name for each in plan.in_start_order()] == ["crm", "triage"]


def test_what_depends_on_it_is_given_its_whole_address(tmp_path: Path) -> None:
    write(tmp_path, "agents/crm.yaml", SERVER.replace("port: 9000", "transport: sse"))
    spec = "dependsOn: [{kind: MCPServer, namespace: tools, name: crm, wait: false}]"
    write(tmp_path, MANIFEST, agent(spec=spec))
    rendered = render_fleet(plan_fleet(load_fleet(tmp_path), "dev"))
    deployment = next(
        each.manifest for each in rendered if (each.agent, each.role) == ("triage", "deployment")
    )
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "CRM_URL", "value": "http://crm.tools.svc:8080/sse"} in container["env"]


def test_agent_json_holds_what_the_reviewed_tools_say_of_their_effects(tmp_path: Path) -> None:
    write(tmp_path, "agents/crm.yaml", SERVER)
    write(tmp_path, MANIFEST, agent(spec=USES))
    annotations = {"destructiveHint": True, "readOnlyHint": "no", "title": "Find", "more": [1]}
    tools = [
        ToolContract("find", annotations=annotations),
        ToolContract("drop", annotations={"destructiveHint": True}),
    ]
    write_tool_lock(tmp_path, ToolLock().with_server("tools/crm", ServerContract.of(tools)))
    rendered = render_fleet(plan_fleet(load_fleet(tmp_path), "dev"))
    [config] = [
        each.manifest for each in rendered if (each.agent, each.role) == ("triage", "config")
    ]
    [tool] = json.loads(config["data"]["agent.json"])["tools"]
    assert tool["annotations"] == {"find": {"destructiveHint": True}}
