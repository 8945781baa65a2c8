"""An agent is rendered from the part of a fleet that concerns it as from the whole."""

from pathlib import Path

import pytest
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.kinds.kinds import McpServer, ModelConfig
from holdfast.render.plan.planning import plan_workloads
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.provenance.part_of_fleet import part_for

ROOT = Path(__file__).parents[4]
IMAGE = f"registry.example/one@sha256:{'1' * 64}"
FLEET = f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: caller}}
spec:
  version: 1.0.0
  image: {IMAGE}
  model: {{ref: shared}}
  network: {{egress: [{{agent: called}}]}}
  tools: [{{mcp: {{serverRef: search, toolNames: [find]}}}}]
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: called}}
spec:
  version: 1.0.0
  image: {IMAGE}
  network: {{expose: {{port: 9000}}, ingressFrom: [caller]}}
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: stranger}}
spec: {{version: 1.0.0, image: {IMAGE}, model: {{ref: other}}}}
---
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {{name: shared}}
spec: {{provider: Anthropic, name: claude}}
---
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {{name: other}}
spec: {{provider: Anthropic, name: claude}}
---
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {{name: search}}
spec: {{image: {IMAGE}, port: 8000}}
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    root = tmp_path_factory.mktemp("project")
    for name, text in (("agents/all.yaml", FLEET), ("stacks/Pulumi.dev.yaml", "config: {}\n")):
        (root / name).parent.mkdir()
        (root / name).write_text(text)
    (root / "Pulumi.yaml").write_text("name: p\nruntime: python\n")
    return load_fleet(root, "dev")


@pytest.mark.parametrize(
    ("name", "agents", "models", "servers"),
    [
        pytest.param("caller", {"caller", "called"}, {"shared"}, {"search"}, id="what it names"),
        pytest.param("called", {"caller", "called"}, set(), set(), id="who may call it"),
        pytest.param("stranger", {"stranger"}, {"other"}, set(), id="nobody else"),
        pytest.param("search", {"caller"}, set(), {"search"}, id="who calls a tool server"),
    ],
)
def test_a_part_has_what_an_agent_names_and_leaves_out_the_rest(
    fleet: Fleet, name: str, agents: set[str], models: set[str], servers: set[str]
) -> None:
    (agent,) = [each for each in fleet.workloads if each.name == name]
    part = part_for(fleet, agent)

    assert {each.name for each in part.agents} == agents
    assert {each.name for each in part.of(ModelConfig)} == models
    assert {each.name for each in part.of(McpServer)} == servers


def test_every_agent_is_rendered_from_its_part_as_from_the_whole(fleet: Fleet) -> None:
    samples = [(load_fleet(ROOT, stack), stack) for stack in ("dev", "staging", "prod")]
    for whole, stack in [(fleet, "dev"), *samples]:
        plans = plan_workloads(whole, stack)
        for agent, plan in zip(whole.workloads, plans, strict=True):
            part = part_for(whole, agent)
            (index,) = [i for i, one in enumerate(part.workloads) if one.origin is agent.origin]
            assert render_agent(plan_workloads(part, stack)[index]) == render_agent(plan)
