"""The Service in front of an agent, and the network policies that deny what is not declared."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.exposure import GATEWAY, Caller, EgressEntry, Namespace
from holdfast.manifest.agent.model import as_reference
from holdfast.manifest.fleet.egress import destinations_of
from holdfast.manifest.stack.environment import PodGroup
from holdfast.manifest.types.hosts import is_outside
from holdfast.manifest.types.marks import AGENT_LABEL, FAILOVER
from holdfast.render.objects.cilium_policy import render_domains
from holdfast.render.objects.services import (
    STANDBY,
    hands_over_service,
    moved_service,
    render_route,
    service_ports,
)
from holdfast.render.plan.dependencies import called_agents
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import Host, RenderContext

DNS_PORT: Final = 53
DURING_UPDATE: Final = "during-update"
METADATA_ADDRESSES = ("169.254.169.254/32", "fd00:ec2::254/128")
_NAMESPACE_LABEL = "kubernetes.io/metadata.name"


def render_network(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """Service and route; none of an agent that has no address of its own."""
    if not spec.has_service:
        return []
    # Argo Rollouts adds the version to the selector of a Service that it moves.
    left = ("spec.selector",) if hands_over_service(spec) else ()
    service = _service(meta, spec)
    item = RenderedObject(meta.name, "service", service, left_to_controllers=left)
    return [item, *render_route(meta, spec, context)]


def render_policies(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """The policies `<agent>`; both directions are always governed by one of them."""
    hosts = reached_hosts(meta, spec, context)
    policy = _policy(meta, spec, context, hosts)
    return [
        RenderedObject(meta.name, "networkpolicy", policy),
        *domain_policy(meta, spec, context, hosts),
    ]


def during_update(policies: Iterable[RenderedObject]) -> list[RenderedObject]:
    """The same policies under names of their own, for while a new version replaces the old one.

    What either policy lets through is open: between `<agent>-during-update`, which changes before
    the pods, and `<agent>`, which changes when they are healthy, the old version keeps its ways and
    the new one has its own.
    """
    return [
        replace(
            item,
            role=f"{item.role}-{DURING_UPDATE}",
            manifest=item.manifest
            | {"metadata": item.manifest["metadata"] | {"name": f"{item.agent}-{DURING_UPDATE}"}},
        )
        for item in policies
    ]


def domain_policy(
    meta: AgentMetadata,
    spec: AgentSpec,
    context: RenderContext,
    hosts: Sequence[Host],
    suffix: str = "",
) -> list[RenderedObject]:
    """The policy that opens domains by name, where the stack has Cilium and the agent needs one.

    Args:
        meta: The agent's marks.
        spec: The agent.
        context: Its stack.
        hosts: What `reached_hosts` finds for it.
        suffix: Of the pods `<agent>-<suffix>` that it is for; by default the agent's own.
    """
    environment = context.environment
    outside = _outside(spec, hosts)
    asks_api_server = asks_for_api_server(spec)
    if environment.opens_domains != "cilium" or not (outside or asks_api_server):
        return []
    dns = environment.network.dns
    return render_domains(meta, outside, dns, suffix, asks_api_server=asks_api_server)


def asks_for_api_server(spec: AgentSpec) -> bool:
    """Whether an agent's rules open the API server by name rather than by its ranges."""
    network = spec.network
    return not network.deny_egress and (network.asks_api_server or spec.scaling.leader_election)


def api_server_rules(context: RenderContext) -> list[KubeObject]:
    """Egress to the endpoints of the API server; none where only Cilium knows them."""
    server = context.environment.network.api_server
    if not server.cidrs:
        return []
    endpoints = [{"ipBlock": {"cidr": cidr}} for cidr in server.cidrs]
    return [{"to": endpoints, "ports": [_tcp(server.port)]}]


def api_server_policy(
    meta: AgentMetadata, context: RenderContext, suffix: str
) -> list[RenderedObject]:
    """The policy by which Cilium lets the pods `<agent>-<suffix>` reach the API server."""
    environment = context.environment
    if environment.opens_domains != "cilium":
        return []
    return render_domains(meta, (), environment.network.dns, suffix, asks_api_server=True)


def _service(meta: AgentMetadata, spec: AgentSpec) -> KubeObject:
    # Ready as soon as it has an address; the default wait for endpoints settles ten seconds longer.
    serving = meta.beside(STANDBY) if spec.scaling.availability.active == STANDBY else meta
    ready = {"pulumi.com/waitFor": "jsonpath={.spec.clusterIP}"} | moved_service(meta, spec)
    if spec.scaling.availability.failover == "automatic":
        ready[FAILOVER] = f"{spec.scaling.availability.failover_seconds:g}s"
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta.metadata(annotations=ready),
        "spec": {"type": "ClusterIP", "selector": serving.selector(), "ports": service_ports(spec)},
    }


def _policy(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, hosts: Sequence[Host]
) -> KubeObject:
    body: KubeObject = {
        "podSelector": {"matchLabels": meta.network_selector()},
        "policyTypes": ["Ingress", "Egress"],
    }
    # An absent list denies; an empty one would vanish in the provider's normalisation.
    if ingress := _ingress(meta, spec, context):
        body["ingress"] = ingress
    if egress := egress_rules(meta, spec, context, hosts):
        body["egress"] = egress
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta.metadata(),
        "spec": body,
    }


def _ingress(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[KubeObject]:
    rules = []
    callers = [*spec.network.ingress_from]
    if spec.network.expose.gateway_ref is not None and GATEWAY not in callers:
        callers.append(GATEWAY)
    if callers:
        allowed = [_caller(meta, caller, context) for caller in callers]
        declared = [_port(port.container_port, port.protocol) for port in spec.container.ports]
        rules.append({"from": allowed, "ports": [_tcp(spec.network.expose.port), *declared]})
    monitoring = context.environment.network.monitoring
    if monitoring and spec.telemetry.metrics.enabled and spec.is_called:
        ports = [_tcp(spec.telemetry.metrics.port)]
        rules.append({"from": [_pods(monitoring)], "ports": ports})
    return rules


def _caller(meta: AgentMetadata, caller: Caller, context: RenderContext) -> KubeObject:
    if caller == GATEWAY:
        gateway = context.environment.network.gateway
        if gateway is None:
            raise RenderError(
                f"agent {meta.name}: is called by the gateway, but the stack has none",
                remedy="set holdfast:network gateway in the stack file",
            )
        return _pods(gateway)
    if isinstance(caller, Namespace):
        return {"namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: caller.namespace}}}
    namespace, name = as_reference(caller, meta.namespace)
    return _agent_pods(name, namespace, meta.origin.stack)


def dns_rule(context: RenderContext) -> KubeObject:
    """Egress to the cluster's DNS."""
    dns = context.environment.network.dns
    caches = [{"ipBlock": {"cidr": str(ipaddress.ip_network(each))}} for each in dns.addresses]
    numbers = sorted({dns.port, DNS_PORT}) if caches else [dns.port]
    ports = [_port(number, protocol) for number in numbers for protocol in ("UDP", "TCP")]
    return {"to": [_pods(dns), *caches], "ports": ports}


def egress_rules(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, hosts: Sequence[Host]
) -> list[KubeObject]:
    """What an agent may reach, as far as a NetworkPolicy can say it.

    Args:
        meta: The agent's marks.
        spec: The agent.
        context: Its stack.
        hosts: What `reached_hosts` finds for it.
    """
    declared = spec.network
    rules: list[KubeObject] = []
    if declared.allow_dns:
        rules.append(dns_rule(context))
    if declared.deny_egress:
        return rules
    for peer in called_agents(meta, spec, context):
        pods = _agent_pods(peer.name, peer.namespace, meta.origin.stack)
        rules.append({"to": [pods], "ports": [_tcp(peer.port)]})
    for entry in declared.egress:
        if entry.agent is not None and entry.ports:
            namespace, name = as_reference(entry.agent, meta.namespace)
            pods = _agent_pods(name, namespace, meta.origin.stack)
            rules.append({"to": [pods], "ports": _ports(entry)})
    inside = {(host.cluster_namespace(meta.namespace), host.port, host.protocol) for host in hosts}
    for namespace, port, protocol in sorted((each[0], *each[1:]) for each in inside if each[0]):
        selector = {"namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: namespace}}}
        rules.append({"to": [selector], "ports": [_port(port, protocol)]})
    if context.environment.opens_domains != "cilium" and (outside := _outside(spec, hosts)):
        rules.append(_gateway(meta, outside, context))
    if asks_for_api_server(spec):
        rules += api_server_rules(context)
    for entry in declared.egress:
        if entry.cidr is not None:
            block = {"to": [{"ipBlock": _block(entry.cidr)}]}
            rules.append(block | ({"ports": _ports(entry)} if entry.ports else {}))
    return rules


def reached_hosts(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[Host]:
    """Hosts beyond its peers that an agent reaches, without repeats, by name."""
    found = destinations_of(spec, meta.namespace, context.targets)
    hosts = {Host(each.host, each.port, each.protocol) for each in found if not each.is_hosted}
    return sorted(hosts, key=lambda host: (host.name, host.port, host.protocol))


def _outside(spec: AgentSpec, reached: Sequence[Host]) -> list[Host]:
    """Hosts that a NetworkPolicy cannot open: domains, and addresses that no range covers."""
    network = spec.network
    if network.deny_egress:
        return []
    return [
        host
        for host in reached
        if is_outside(host.name, network.ranges_at(host.port, host.protocol))
    ]


def _gateway(meta: AgentMetadata, hosts: Iterable[Host], context: RenderContext) -> KubeObject:
    gateway = context.environment.network.egress_gateway
    if gateway is None:
        names = ", ".join(sorted({host.name for host in hosts}))
        raise RenderError(
            f"agent {meta.name}: reaches {names}, but the stack has neither Cilium nor an "
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


def _ports(entry: EgressEntry) -> list[KubeObject]:
    return [_port(each.port, each.protocol) for each in entry.ports]


def _port(port: int, protocol: str) -> KubeObject:
    return {"port": port, "protocol": protocol}
