"""An agent on a stack with gateways, a shared model, a tool server and other agents."""

from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.render.objects.network import DURING_UPDATE
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.plan.render_context import RenderContext

IMAGE = "registry.example/support@sha256:" + "2" * 64


ENVIRONMENT = Environment.model_validate(
    {
        "network": {
            "gateway": {"namespace": "edge", "podLabels": {"app": "gateway"}},
            "egressGateway": {
                "namespace": "egress",
                "podLabels": {"app": "proxy"},
                "port": 3128,
                "url": "http://proxy.egress.svc:3128",
            },
            "monitoring": {"namespace": "monitoring", "podLabels": {"app": "prometheus"}},
        },
        "telemetry": {"otlpEndpoint": "http://otel.observability.svc:4317"},
    }
)


SURROUNDINGS = RenderContext(
    ENVIRONMENT,
    models={
        ("cx", "gpt"): ModelConfigSpec.model_validate(
            {
                "provider": "OpenAI",
                "name": "gpt-5",
                "baseUrl": "https://api.openai.com/v1",
                "apiKeySecretRef": {"name": "llm", "key": "token"},
            }
        )
    },
    servers={
        ("cx", "crm"): McpServerSpec.model_validate(
            {"url": "http://crm-tools.tools.svc:8000/mcp", "toolNames": ["find_order"]}
        )
    },
    ports={("clinic", "vision"): 9000},
)


def render(spec: dict[str, Any], **metadata: Any) -> tuple[RenderedObject, ...]:
    """Every object of the agent `support`, on a stack that others share with it."""
    agent = Agent.model_validate(
        {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": "support", **metadata},
            "spec": {"version": "2.1.0", "owner": "care", "image": IMAGE, **spec},
        }
    )
    origin = Provenance("dev", "agents/support.yaml")
    meta = metadata_of(agent.metadata, agent.spec, "cx", origin)
    return render_agent(AgentPlan(meta, agent.spec, SURROUNDINGS))


def only(rendered: tuple[RenderedObject, ...], kind: str) -> KubeObject:
    """The one object of a kind; of network policies the one that holds when nothing changes."""
    found = [
        item.manifest
        for item in rendered
        if item.manifest["kind"] == kind and not item.role.endswith(DURING_UPDATE)
    ]
    assert len(found) == 1, f"{len(found)} objects of kind {kind}"
    return found[0]


def container(rendered: tuple[RenderedObject, ...]) -> KubeObject:
    """The agent's container."""
    first: KubeObject = only(rendered, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    return first


def env(rendered: tuple[RenderedObject, ...]) -> dict[str, Any]:
    """Variables of the agent's container."""
    return {entry["name"]: entry.get("value") for entry in container(rendered)["env"]}
