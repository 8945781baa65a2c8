"""Agents that an operator holds: two with storage, one put back and one reported, in a team."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.render.fleet import FleetPlan
from holdfast.render.objects.stack_declaration import render_declaration
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.planning import plan_fleet

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import LiveSandbox

AGENT = """\
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {name: %(name)s, namespace: %(namespace)s}
spec:
  version: 1.0.0
  image: registry.example/%(name)s@sha256:%(digest)s
  model: {ref: main}
  prompt: {systemMessage: Answer briefly.}
  drift: {mode: %(mode)s}
  storage:
    volumes:
      - {name: data, size: 1Gi, mountPath: /data, retain: true}
      - {name: scratch, size: 1Gi, mountPath: /scratch, retain: false, allowReplacement: true}
"""
SHARED = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: main, namespace: %(namespace)s}
spec: {provider: Anthropic, name: claude-sonnet-4-6}
---
apiVersion: holdfast.dev/v1alpha1
kind: AgentTeam
metadata: {name: crew, namespace: %(namespace)s}
spec: {owner: ops, members: [held, told]}
"""


def manifests(namespace: str) -> str:
    text = SHARED % {"namespace": namespace}
    for name, mode in (("held", "revert"), ("told", "report")):
        marks = {"name": name, "namespace": namespace, "mode": mode, "digest": "1" * 64}
        text += AGENT % marks
    return text


def expanded_plan(root: Path, sandbox: LiveSandbox, declared: str) -> FleetPlan:
    """What manifests of namespace `made` declare as stack `made` in mode expand."""
    settings = {"namespace": "made", "policy": {"profile": "dev"}}
    fleet = load_fleet(FleetProject.write(root, sandbox, declared, settings).root, "dev")
    expand = {"agent_resources": AgentResources(mode="expand")}
    environment = fleet.environment.model_copy(update=expand)
    return plan_fleet(replace(fleet, environment=environment), "made")


def declaration_of(resources: list[KubeObject], stack: str, mode: str) -> list[KubeObject]:
    """What an update writes to make these resources count: its declaration, and that it is done."""
    counting = [one for one in resources if "namespace" in one["metadata"]]
    items = (RenderedObject("", "", one) for one in counting)
    return [item.manifest for item in render_declaration(items, mode, stack)]


def condition(resource: dict[str, Any], name: str) -> tuple[str, str]:
    found = {each["type"]: each for each in resource.get("status", {}).get("conditions", ())}
    each = found.get(name, {"status": "", "reason": ""})
    return each["status"], each["reason"]
