"""The HTTPRoute that leads from a gateway to an agent."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent import AgentSpec
from holdfast.manifest.exposure import GatewayReference
from holdfast.render.marks import AgentMarks, RenderedObject
from holdfast.render.surroundings import Surroundings


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
    backend = {"group": "", "kind": "Service", "name": marks.name, "port": expose.port, "weight": 1}
    body: KubeObject = {
        "parentRefs": [_parent(marks, expose.gateway_ref)],
        "rules": [{"matches": [match], "backendRefs": [backend]}],
    }
    if expose.hosts:
        body["hostnames"] = list(expose.hosts)
    manifest: KubeObject = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": marks.metadata(),
        "spec": body,
    }
    return [RenderedObject(marks.name, "route", manifest)]


def _parent(marks: AgentMarks, gateway: GatewayReference) -> KubeObject:
    parent = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "namespace": gateway.namespace or marks.namespace,
        "name": gateway.name,
    }
    return parent | ({"sectionName": gateway.section_name} if gateway.section_name else {})
