"""One agent rendered from its spec, on a stack that offers what tests ask for."""

from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.plan.render_context import RenderContext

IMAGE = "registry.example/support@sha256:" + "2" * 64
TOOLS = "registry.example/tools@sha256:" + "3" * 64
SHIPPER = "registry.example/shipper@sha256:" + "4" * 64
COLLECTOR = "registry.example/collector@sha256:" + "5" * 64
DIGEST = "6" * 64

EVERYTHING: dict[str, Any] = {
    "controllers": ["argo-rollouts", "gateway-api", "keda", "kueue", "opentelemetry-operator"],
    "images": {"tools": TOOLS, "logShipper": SHIPPER, "telemetryCollector": COLLECTOR},
    "objectStores": {"s3": {"endpoint": "https://s3.example.com/", "region": "eu-1"}},
    "telemetry": {
        "otlpEndpoint": "http://otel.monitoring.svc:4317",
        "prometheusUrl": "http://prometheus.monitoring.svc:9090",
    },
    "network": {
        "egressGateway": {
            "namespace": "egress",
            "podLabels": {"app": "proxy"},
            "port": 3128,
            "url": "http://proxy.egress.svc:3128",
        }
    },
}
"""A stack that offers all that agents may need."""

MODELS = {
    ("cx", "local"): ModelConfigSpec.model_validate(
        {
            "provider": "vllm",
            "name": "vlm-7b",
            "baseUrl": "http://vllm.models.svc:8000/v1",
            "apiKeySecretRef": {"name": "llm", "key": "token"},
        }
    )
}
SERVERS = {
    ("cx", "crm"): McpServerSpec.model_validate({"url": "http://crm-tools.tools.svc:8000/mcp"})
}


def render(
    spec: dict[str, Any], environment: dict[str, Any] | None = None
) -> dict[str, RenderedObject]:
    """Role to object of the agent `support` in namespace `cx` of stack `dev`."""
    agent = Agent.model_validate(
        {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": "support"},
            "spec": {"version": "2.1.0", "image": IMAGE, **spec},
        }
    )
    declared = Environment.model_validate(EVERYTHING if environment is None else environment)
    context = RenderContext(declared, models=MODELS, servers=SERVERS)
    meta = metadata_of(agent.metadata, agent.spec, "cx", Provenance("dev", "agents/support.yaml"))
    rendered = render_agent(AgentPlan(meta, agent.spec, context))
    return {item.role: item for item in rendered}


def body(rendered: dict[str, RenderedObject], role: str) -> KubeObject:
    """`spec` of one object."""
    found: KubeObject = rendered[role].manifest["spec"]
    return found


def pod(rendered: dict[str, RenderedObject], role: str = "deployment") -> KubeObject:
    """Pod spec of a workload."""
    found: KubeObject = body(rendered, role)["template"]["spec"]
    return found


def by_name(containers: list[KubeObject]) -> dict[str, KubeObject]:
    """Containers (or variables, or volumes) by their names."""
    return {each["name"]: each for each in containers}


def variables(container: KubeObject) -> dict[str, Any]:
    """Variable to literal value of a container."""
    return {each["name"]: each.get("value") for each in container.get("env", ())}
