"""One agent rendered on a stack of a test's own."""

from collections.abc import Sequence
from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.plan.render_context import RenderContext

IMAGE = "registry.example/support@sha256:" + "2" * 64


def plan(spec: dict[str, Any], environment: dict[str, Any] | None = None) -> AgentPlan:
    """The agent `support` of namespace `cx` on stack `dev`."""
    agent = Agent.model_validate(
        {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": "support"},
            "spec": {"version": "2.1.0", "image": IMAGE, **spec},
        }
    )
    meta = metadata_of(agent.metadata, agent.spec, "cx", Provenance("dev", "agents/support.yaml"))
    around = RenderContext(Environment.model_validate(environment or {}))
    return AgentPlan(meta, agent.spec, around)


def render(
    spec: dict[str, Any], environment: dict[str, Any] | None = None
) -> tuple[RenderedObject, ...]:
    """Every object of that agent."""
    return render_agent(plan(spec, environment))


def named(rendered: Sequence[RenderedObject], role: str) -> KubeObject:
    """The object of a role."""
    found = [item.manifest for item in rendered if item.role == role]
    assert len(found) == 1, f"{role} among {[item.role for item in rendered]}"
    return found[0]


def roles(rendered: Sequence[RenderedObject]) -> set[str]:
    """Every role that was rendered."""
    return {item.role for item in rendered}


def pod_template(rendered: Sequence[RenderedObject]) -> KubeObject:
    """The Deployment's pod template."""
    template: KubeObject = named(rendered, "deployment")["spec"]["template"]
    return template


def container(rendered: Sequence[RenderedObject]) -> KubeObject:
    """The agent's container."""
    first: KubeObject = pod_template(rendered)["spec"]["containers"][0]
    return first


def env(rendered: Sequence[RenderedObject]) -> dict[str, Any]:
    """Variable to its value, or to where it comes from."""
    variables: Sequence[KubeObject] = container(rendered)["env"]
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in variables}
