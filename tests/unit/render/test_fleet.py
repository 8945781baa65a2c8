from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.fleet import FleetPlan, render_fleet
from holdfast.render.plan.metadata import AgentMetadata, Provenance
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.render_context import RenderContext

ORIGIN = Provenance("dev")


def plan(name: str, namespace: str = "cx", **spec: Any) -> AgentPlan:
    image = f"registry.example/x@sha256:{'1' * 64}"
    parsed = AgentSpec.model_validate({"version": "1.0.0", "image": image, **spec})
    return AgentPlan(AgentMetadata(name, namespace, ORIGIN), parsed, RenderContext())


def storage(name: str) -> dict[str, Any]:
    return {"volumes": [{"name": name, "size": "1Gi", "mountPath": "/data"}]}


def test_namespaces_come_first_and_once() -> None:
    fleet = FleetPlan((plan("one"), plan("two"), plan("three", "ops")), ORIGIN)
    rendered = render_fleet(fleet)
    assert [item.role for item in rendered[:3]] == [
        "namespace-cx",
        "namespace-ops",
        "serviceaccount",
    ]
    labels = rendered[0].manifest["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_two_agents_that_would_share_an_object_are_refused() -> None:
    agents = (plan("x", storage=storage("y-data")), plan("x-y", storage=storage("data")))
    with pytest.raises(RenderError, match=r"agents x and x-y would both have .*cx/x-y-data"):
        render_fleet(FleetPlan(agents, ORIGIN))


def test_equal_names_in_two_namespaces_are_two_objects() -> None:
    agents = (plan("x", "a", storage=storage("y-data")), plan("x-y", "b", storage=storage("data")))
    assert render_fleet(FleetPlan(agents, ORIGIN))


@pytest.mark.parametrize("holds", [(), storage("work")])
def test_a_namespace_is_kept_whatever_its_agents_hold_now(holds: Any) -> None:
    agent = plan("coder", storage=holds) if holds else plan("coder")
    [namespace] = FleetPlan((agent,), ORIGIN).namespace_objects()
    assert namespace.is_retained
