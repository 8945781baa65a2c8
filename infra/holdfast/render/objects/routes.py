"""The HTTPRoute that leads from a gateway to an agent."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.exposure import GatewayReference
from holdfast.render.objects.services import CANARY, is_routed
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings

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
    surroundings.require("gateway-api", marks.name, "spec.network.expose.gatewayRef")
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
