"""What an agent depends on: its address is told, its way is open, and it starts first."""

from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.manifest.agent.agent import Agent
from holdfast.render.fleet import FleetPlan
from holdfast.render.plan.metadata import Provenance
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_context import RenderContext

from tests.unit.render.connected_agent import SURROUNDINGS, env, only, render

NEEDS = {
    "dependsOn": [
        {"name": "crm", "wait": False},
        {"namespace": "clinic", "name": "vision", "wait": False},
        {"kind": "Service", "name": "vector-store", "port": 6333, "wait": False},
    ],
}


def test_each_dependency_gives_its_address() -> None:
    variables = env(render(NEEDS))
    assert variables["CRM_URL"] == "http://crm-tools.tools.svc:8000/mcp"
    assert variables["VISION_URL"] == "http://vision.clinic.svc:9000"
    assert variables["VECTOR_STORE_URL"] == "http://vector-store.cx.svc:6333"


def test_the_way_to_each_dependency_is_open_and_to_nothing_else() -> None:
    def ports(spec: dict[str, Any]) -> list[tuple[int, str]]:
        egress = only(render(spec), "NetworkPolicy")["spec"]["egress"]
        return [(rule["ports"][0]["port"], str(rule["to"][0])) for rule in egress]

    added = [each for each in ports(NEEDS) if each not in ports({})]
    assert [port for port, _ in added] == [9000, 6333, 8000]
    assert "'holdfast.dev/agent': 'vision'" in added[0][1]


def test_a_dependency_that_is_not_declared_is_named() -> None:
    with pytest.raises(RenderError, match=r"spec.dependsOn: cx/absent is not declared"):
        render({"dependsOn": [{"name": "absent", "wait": False}]})


def plan_named(name: str, *needs: str) -> AgentPlan:

    spec = {"version": "1.0.0", "image": "a@sha256:" + "0" * 64, "dependsOn": list(needs)}
    agent = Agent.model_validate(
        {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": name},
            "spec": spec,
        }
    )
    context = RenderContext(SURROUNDINGS.environment, ports={("cx", each): 8080 for each in "abcd"})
    meta = metadata_of(agent.metadata, agent.spec, "cx", Provenance("dev"))
    return AgentPlan(meta, agent.spec, context)


def test_agents_start_after_what_they_need() -> None:
    plans = (plan_named("a", "b", "d"), plan_named("b", "c"), plan_named("c"), plan_named("d"))
    fleet = FleetPlan(plans, Provenance("dev"))
    assert [plan.meta.name for plan in fleet.in_start_order()] == ["c", "d", "b", "a"]
    assert fleet.start_needs()["cx", "a"] == (("cx", "b"), ("cx", "d"))


def test_agents_that_wait_for_one_another_are_refused() -> None:
    fleet = FleetPlan((plan_named("a", "b"), plan_named("b", "a")), Provenance("dev"))
    with pytest.raises(RenderError, match="agents wait for one another: a -> b -> a"):
        fleet.in_start_order()
