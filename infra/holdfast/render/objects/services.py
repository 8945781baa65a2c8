"""The Services that lead to an agent, and the HTTPRoute that leads from a gateway to them."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.exposure import GatewayReference
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings
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


def moved_service(marks: AgentMarks, spec: AgentSpec) -> dict[str, str]:
    """Annotation by which Argo Rollouts marks a Service that it moves; empty for the others."""
    if not hands_over_service(spec):
        return {}
    return {"argo-rollouts.argoproj.io/managed-by-rollouts": marks.name}


def second_service(spec: AgentSpec) -> str:
    """Role of the Service that leads to a new version; empty where there is none."""
    if spec.rollout.strategy == "BlueGreen":
        return PREVIEW
    return CANARY if is_routed(spec) else ""


ALL_TRAFFIC = 100
FORCED = {"pulumi.com/patchForce": "true"}
"""Argo Rollouts owns the rules once it has written weights, and writes them again after us."""


def render_route(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[RenderedObject]:
    """The HTTPRoute `<agent>`; none for an agent that no gateway routes to.

    Raises:
        RenderError: the stack does not declare Gateway API.
    """
    expose = spec.network.expose
    if expose.gateway_ref is None:
        return []
    surroundings.require_all(marks.name, spec, ("network", "expose"))
    match = {"path": {"type": "PathPrefix", "value": expose.path or "/"}}
    # What the definition would fill in is written out, so that a change of it is seen.
    body: KubeObject = {
        "parentRefs": [_parent(marks, expose.gateway_ref)],
        "rules": [{"matches": [match], "backendRefs": _backends(marks, spec)}],
    }
    if expose.hosts:
        body["hostnames"] = list(expose.hosts)
    manifest: KubeObject = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": marks.metadata(annotations=FORCED if is_routed(spec) else {}),
        "spec": body,
    }
    return [RenderedObject(marks.name, "route", manifest)]


def _backends(marks: AgentMarks, spec: AgentSpec) -> list[KubeObject]:
    """The agent's Service; of a canary, both Services, with the weights of a rollout at rest."""
    backend: KubeObject = {"group": "", "kind": "Service", "port": spec.network.expose.port}
    if not is_routed(spec):
        return [backend | {"name": marks.name, "weight": 1}]
    return [
        backend | {"name": marks.name, "weight": ALL_TRAFFIC},
        backend | {"name": f"{marks.name}-{CANARY}", "weight": 0},
    ]


def _parent(marks: AgentMarks, gateway: GatewayReference) -> KubeObject:
    parent = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "namespace": gateway.namespace or marks.namespace,
        "name": gateway.name,
    }
    return parent | ({"sectionName": gateway.section_name} if gateway.section_name else {})
