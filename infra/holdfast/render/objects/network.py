"""The Service in front of an agent, and the network policies that deny what is not declared."""

import ipaddress
from collections.abc import Iterable

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.exposure import GATEWAY, Caller, Namespace
from holdfast.manifest.agent.model import as_reference
from holdfast.manifest.fleet.egress import destinations_of
from holdfast.manifest.stack.environment import PodGroup
from holdfast.manifest.types.agent_label import AGENT_LABEL
from holdfast.manifest.types.hosts import DEFAULT_PORTS, is_outside
from holdfast.render.objects.cilium_policy import render_domains
from holdfast.render.objects.failover import FAILOVER
from holdfast.render.objects.services import (
    STANDBY,
    hands_over_service,
    moved_service,
    render_route,
    service_ports,
)
from holdfast.render.plan.dependencies import called_agents
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Host, Surroundings

METADATA_ADDRESSES = ("169.254.169.254/32", "fd00:ec2::254/128")
_NAMESPACE_LABEL = "kubernetes.io/metadata.name"


def render_network(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[RenderedObject]:
    """Service, route and network policies; both directions are always governed by the policy."""
    rendered = [RenderedObject(marks.name, "networkpolicy", _policy(marks, spec, surroundings))]
    rendered += domain_policy(marks, spec, surroundings)
    if spec.has_service:
        # Argo Rollouts adds the version to the selector of a Service that it moves.
        left = ("spec.selector",) if hands_over_service(spec) else ()
        service = _service(marks, spec)
        item = RenderedObject(marks.name, "service", service, left_to_controllers=left)
        rendered.insert(0, item)
        rendered += render_route(marks, spec, surroundings)
    return rendered


def domain_policy(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, suffix: str = ""
) -> list[RenderedObject]:
    """The policy that opens domains by name, where the stack has Cilium and the agent needs one.

    Args:
        marks: The agent's marks.
        spec: The agent.
        surroundings: Its stack.
        suffix: Of the pods `<agent>-<suffix>` that it is for; by default the agent's own.
    """
    environment = surroundings.environment
    outside = _outside(marks, spec, surroundings)
    if not outside or environment.opens_domains != "cilium":
        return []
    return render_domains(marks, outside, environment.network.dns, suffix)


def _service(marks: AgentMarks, spec: AgentSpec) -> KubeObject:
    # Ready as soon as it has an address; the default wait for endpoints settles ten seconds longer.
    serving = marks.beside(STANDBY) if spec.availability.active == STANDBY else marks
    ready = {"pulumi.com/waitFor": "jsonpath={.spec.clusterIP}"} | moved_service(marks, spec)
    if spec.availability.failover == "automatic":
        ready[FAILOVER] = f"{spec.availability.failover_seconds:g}s"
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": marks.metadata(annotations=ready),
        "spec": {"type": "ClusterIP", "selector": serving.selector(), "ports": service_ports(spec)},
    }


def _policy(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> KubeObject:
    body: KubeObject = {
        "podSelector": {"matchLabels": marks.network_selector()},
        "policyTypes": ["Ingress", "Egress"],
    }
    # An absent list denies; an empty one would vanish in the provider's normalisation.
    if ingress := _ingress(marks, spec, surroundings):
        body["ingress"] = ingress
    if egress := egress_rules(marks, spec, surroundings):
        body["egress"] = egress
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": marks.metadata(),
        "spec": body,
    }


def _ingress(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> list[KubeObject]:
    rules = []
    callers = [*spec.network.ingress_from]
    if spec.network.expose.gateway_ref is not None and GATEWAY not in callers:
        callers.append(GATEWAY)
    if callers:
        allowed = [_caller(marks, caller, surroundings) for caller in callers]
        rules.append({"from": allowed, "ports": [_tcp(spec.network.expose.port)]})
    monitoring = surroundings.environment.network.monitoring
    if monitoring and spec.telemetry.metrics.enabled and spec.is_called:
        ports = [_tcp(spec.telemetry.metrics.port)]
        rules.append({"from": [_pods(monitoring)], "ports": ports})
    return rules


def _caller(marks: AgentMarks, caller: Caller, surroundings: Surroundings) -> KubeObject:
    if caller == GATEWAY:
        gateway = surroundings.environment.network.gateway
        if gateway is None:
            raise RenderError(
                f"agent {marks.name}: is called by the gateway, but the stack has none",
                remedy="set holdfast:network gateway in the stack file",
            )
        return _pods(gateway)
    if isinstance(caller, Namespace):
        return {"namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: caller.namespace}}}
    namespace, name = as_reference(caller, marks.namespace)
    return _agent_pods(name, namespace, marks.origin.stack)


def dns_rule(surroundings: Surroundings) -> KubeObject:
    """Egress to the cluster's DNS."""
    dns = _pods(surroundings.environment.network.dns)
    return {"to": [dns], "ports": [_port(53, "UDP"), _port(53, "TCP")]}


def egress_rules(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[KubeObject]:
    """What an agent may reach, as far as a NetworkPolicy can say it."""
    declared = spec.network.egress
    rules = []
    if declared.allow_dns:
        rules.append(dns_rule(surroundings))
    if declared.mode == "denyAll":
        return rules
    for peer in called_agents(marks, spec, surroundings):
        pods = _agent_pods(peer.name, peer.namespace, marks.origin.stack)
        rules.append({"to": [pods], "ports": [_tcp(peer.port)]})
    hosts = reached_hosts(marks, spec, surroundings)
    inside = {(host.cluster_namespace(marks.namespace), host.port) for host in hosts}
    for namespace, port in sorted((place, port) for place, port in inside if place is not None):
        selector = {"namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: namespace}}}
        rules.append({"to": [selector], "ports": [_tcp(port)]})
    if surroundings.environment.opens_domains != "cilium" and (
        outside := _outside(marks, spec, surroundings)
    ):
        rules.append(_gateway(marks, outside, surroundings))
    rules += [{"to": [{"ipBlock": _block(cidr)}]} for cidr in declared.cidrs]
    return rules


def reached_hosts(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> list[Host]:
    """Hosts beyond its peers that an agent reaches, without repeats, by name."""
    found = destinations_of(spec, marks.namespace, surroundings.targets)
    hosts = {
        Host(each.host, each.port) for each in found if each.port is not None and not each.is_hosted
    }
    return sorted(hosts, key=lambda host: (host.name, host.port))


def _outside(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> list[Host]:
    """Hosts that a NetworkPolicy cannot open: domains, and addresses that no range covers."""
    egress = spec.network.egress
    if egress.mode == "denyAll":
        return []
    listed = {Host(domain, DEFAULT_PORTS["https"]) for domain in egress.domains}
    reached = reached_hosts(marks, spec, surroundings)
    found = listed | {host for host in reached if is_outside(host.name, egress.cidrs)}
    return sorted(found, key=lambda host: (host.name, host.port))


def _gateway(marks: AgentMarks, hosts: Iterable[Host], surroundings: Surroundings) -> KubeObject:
    gateway = surroundings.environment.network.egress_gateway
    if gateway is None:
        names = ", ".join(sorted({host.name for host in hosts}))
        raise RenderError(
            f"agent {marks.name}: reaches {names}, but the stack has neither Cilium nor an "
            "egress gateway (a NetworkPolicy knows no domains)",
            remedy="set holdfast:network egressGateway in the stack file, or add cilium to "
            "holdfast:controllers where the cluster runs it",
        )
    return {"to": [_pods(gateway)], "ports": [_tcp(gateway.port)]}


def _block(cidr: str) -> KubeObject:
    network = ipaddress.ip_network(cidr)
    inside = [
        address
        for address in METADATA_ADDRESSES
        if ipaddress.ip_network(address).version == network.version
        and ipaddress.ip_network(address).network_address in network
    ]
    return {"cidr": cidr} | ({"except": inside} if inside else {})


def _agent_pods(name: str, namespace: str, stack: str) -> KubeObject:
    labels = {AGENT_LABEL: name, "app.kubernetes.io/instance": stack}
    return _pods(PodGroup(namespace=namespace, pod_labels=labels))


def _pods(group: PodGroup) -> KubeObject:
    return {
        "namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: group.namespace}},
        "podSelector": {"matchLabels": dict(group.pod_labels)},
    }


def _tcp(port: int) -> KubeObject:
    return _port(port, "TCP")


def _port(port: int, protocol: str) -> KubeObject:
    return {"port": port, "protocol": protocol}
