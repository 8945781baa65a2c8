"""The Services that lead to an agent, and the HTTPRoute that leads from a gateway to them."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.exposure import GatewayReference
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import container_ports

STANDBY = "standby"
PREVIEW, CANARY = "preview", "canary"


def service_ports(spec: AgentSpec) -> list[KubeObject]:
    """Ports of a Service in front of the agent: those of its container, by name."""
    return [
        {
            "name": port["name"],
            "port": port["containerPort"],
            "protocol": port["protocol"],
            "targetPort": port["name"],
        }
        for port in container_ports(spec)
    ]


def is_routed(spec: AgentSpec) -> bool:
    """Whether a gateway divides the traffic of a canary; else the numbers of pods do."""
    return spec.rollout.strategy == "Canary" and spec.network.expose.gateway_ref is not None


def hands_over_service(spec: AgentSpec) -> bool:
    """Whether Argo Rollouts writes the selector of the agent's Service."""
    return spec.rollout.strategy == "BlueGreen" or is_routed(spec)


def moved_service(meta: AgentMetadata, spec: AgentSpec) -> dict[str, str]:
    """Annotation by which Argo Rollouts marks a Service that it moves; empty for the others."""
    if not hands_over_service(spec):
        return {}
    return {"argo-rollouts.argoproj.io/managed-by-rollouts": meta.name}


def second_service(spec: AgentSpec) -> str:
    """Role of the Service that leads to a new version; empty where there is none."""
    if spec.rollout.strategy == "BlueGreen":
        return PREVIEW
    return CANARY if is_routed(spec) else ""


ALL_TRAFFIC = 100
MOST_OF_A_UNIT = 100_000
FORCED = {"pulumi.com/patchForce": "true"}
"""Argo Rollouts owns the rules once it has written weights, and writes them again after us."""


def render_route(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """The HTTPRoute `<agent>`; none for an agent that no gateway routes to.

    Raises:
        RenderError: the stack does not declare Gateway API.
    """
    expose = spec.network.expose
    if expose.gateway_ref is None:
        return []
    context.require_all(meta.name, spec, ("network", "expose"))
    match = {"path": {"type": "PathPrefix", "value": expose.path or "/"}}
    rule = {
        "matches": [match],
        "backendRefs": _backends(meta, spec),
        # Gateways end a request after a time of their own else, such as 15 s: agents take longer.
        "timeouts": {"request": _longest_request(spec)},
    }
    # What the definition would fill in is written out, so that a change of it is seen.
    body: KubeObject = {
        "parentRefs": [_parent(meta, expose.gateway_ref)],
        "rules": [rule],
    }
    if expose.hosts:
        body["hostnames"] = list(expose.hosts)
    manifest: KubeObject = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": meta.metadata(annotations=FORCED if is_routed(spec) else {}),
        "spec": body,
    }
    return [RenderedObject(meta.name, "route", manifest)]


def moved_weights(route: KubeObject) -> list[str]:
    """JSON pointers to the weights that Argo Rollouts writes while a rollout runs."""
    if (
        route["kind"] != "HTTPRoute"
        or not FORCED.items() <= route["metadata"]["annotations"].items()
    ):
        return []
    return [
        f"/spec/rules/{rule}/backendRefs/{backend}/weight"
        for rule, declared in enumerate(route["spec"]["rules"])
        for backend, _ in enumerate(declared["backendRefs"])
    ]


def _backends(meta: AgentMetadata, spec: AgentSpec) -> list[KubeObject]:
    """The agent's Service; of a canary, both Services, with the weights of a rollout at rest."""
    backend: KubeObject = {"group": "", "kind": "Service", "port": spec.network.expose.port}
    if not is_routed(spec):
        return [backend | {"name": meta.name, "weight": 1}]
    return [
        backend | {"name": meta.name, "weight": ALL_TRAFFIC},
        backend | {"name": f"{meta.name}-{CANARY}", "weight": 0},
    ]


def _longest_request(spec: AgentSpec) -> str:
    """`budget.timeout` as Gateway API writes durations: at most five digits a unit."""
    seconds = -(-duration_milliseconds(spec.budget.timeout) // 1000)
    return f"{seconds}s" if seconds < MOST_OF_A_UNIT else f"{-(-seconds // 60)}m"


def _parent(meta: AgentMetadata, gateway: GatewayReference) -> KubeObject:
    parent = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "namespace": gateway.namespace or meta.namespace,
        "name": gateway.name,
    }
    return parent | ({"sectionName": gateway.section_name} if gateway.section_name else {})
