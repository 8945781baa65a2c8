"""Services are reached inside the cluster, or through its gateway."""

from collections.abc import Iterator

from holdfast_policies.api import (
    INGRESS,
    POD_KINDS,
    SERVICE,
    Admission,
    Breach,
    Container,
    Fix,
    Kind,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    containers,
    in_object,
    items,
    key_path,
    mapping,
    said,
    shown,
    text,
)


def check_type(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Service that takes an address or port outside the cluster."""
    service_type = subject.spec.get("type")
    if service_type in ("LoadBalancer", "NodePort"):
        yield Breach("spec.type", got=shown(service_type), required='"ClusterIP"')


def check_external_addresses(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Service that takes over addresses from outside."""
    addresses = items(subject.spec.get("externalIPs"))
    if addresses:
        remedy = "remove externalIPs"
        yield Breach("spec.externalIPs", shown(list(addresses)), "no external address", remedy)


TUNNELS = frozenset(
    Kind(group, name)
    for group, names in {
        "networking.cfargotunnel.com": "Tunnel ClusterTunnel TunnelBinding AccessTunnel",
        "ngrok.k8s.ngrok.com": "CloudEndpoint AgentEndpoint KubernetesOperator NgrokTrafficPolicy",
        "ingress.k8s.ngrok.com": "Domain Tunnel HTTPSEdge TCPEdge TLSEdge IPPolicy",
        "bindings.k8s.ngrok.com": "BoundEndpoint EndpointBinding",
        "tailscale.com": "Connector ProxyGroup ProxyClass DNSConfig",
        "operator.inlets.dev": "Tunnel",
        "inlets.inlets.dev": "Tunnel",
        "skupper.io": "Site Link Listener Connector AccessGrant RouterAccess",
        "multicluster.x-k8s.io": "ServiceExport",
        "net.gke.io": "ServiceExport",
        "metallb.io": "IPAddressPool L2Advertisement BGPAdvertisement BGPPeer",
        "gateway.networking.k8s.io": "TCPRoute UDPRoute",
        "traefik.io": "IngressRouteUDP",
        "configuration.konghq.com": "TCPIngress UDPIngress",
        "getambassador.io": "TCPMapping",
        "cilium.io": "CiliumL2AnnouncementPolicy CiliumLoadBalancerIPPool",
    }.items()
    for name in names.split()
)
"""Tunnels, routes without a caller's name, and addresses that others announce."""
_ANNOTATIONS = ("tailscale.com/expose", "tailscale.com/funnel", "k8s.ngrok.com/", "inlets.dev/")
_TUNNEL_PROGRAMS = frozenset(
    {"cloudflared", "ngrok", "frpc", "bore", "localtunnel", "lt", "inlets", "inlets-pro", "zrok"}
    | {"pagekite", "chisel", "playit", "telebit", "rathole", "tmole"}
)
_MOST_WORDS, _LONGEST_LINE = 64, 4096


def check_other_kinds(subject: Subject, _: Settings) -> Iterator[Breach]:
    """Tunnels and plain connections, as objects and as annotations."""
    if subject.kind in TUNNELS:
        yield Breach("kind", got=str(subject.kind), required="a route on the gateway")
    if subject.kind == SERVICE and subject.spec.get("type") == "ExternalName":
        yield Breach("spec.type", '"ExternalName"', '"ClusterIP"')
    if subject.kind in (SERVICE, INGRESS):
        for key, value in mapping(subject.metadata.get("annotations")).items():
            if key.startswith(_ANNOTATIONS) and text(value).lower() not in ("false", ""):
                yield Breach(key_path("metadata.annotations", key), "a tunnel", "no tunnel")


def check_tunnel(container: Container, _: Settings) -> Iterator[Breach]:
    """A container that is one end of a tunnel."""
    words = [
        text(word)
        for name in ("command", "args")
        for word in items(container.value.get(name))[:_MOST_WORDS]
    ]
    line = " ".join(words)[:_LONGEST_LINE].translate(_SPACED).split()
    programs = {word.rpartition("/")[2] for word in line}
    name = text(container.value.get("image")).partition("@")[0].rpartition("/")[2]
    found = _TUNNEL_PROGRAMS & {*programs, name.partition(":")[0]}
    if "ssh" in programs and any(word.startswith("-R") for word in line):
        found |= {"ssh -R"}
    if "tailscale" in programs and {"funnel", "serve"} & programs:
        found |= {"tailscale"}
    if found:
        yield Breach(container.path, f"{', '.join(sorted(found))}, a tunnel", "no tunnel")


_SPACED = dict.fromkeys(map(ord, "'\";&|()"), " ")


RULE = Rule(
    id="no-public-exposure",
    title="No public Services",
    description="A Service is reachable from outside the cluster, past the gateway",
    rationale="The gateway is where callers are authenticated, limited and recorded.",
    remedy="use a ClusterIP Service and a route on the gateway",
    source="https://kubernetes.io/docs/concepts/services-networking/service/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("SC-7", "ASI07"),
    fix=Fix.NO,
    kinds=frozenset({SERVICE, INGRESS}) | TUNNELS | POD_KINDS,
    check=all_of(check_type, check_external_addresses, check_other_kinds, containers(check_tunnel)),
    admission=Admission(
        (
            in_object(
                'variables.subject.?spec.?type.orValue("") in ["LoadBalancer", "NodePort"]',
                "spec.type",
                '"ClusterIP"',
                said("variables.subject.?spec.?type"),
            ),
            in_object(
                "variables.subject.?spec.?externalIPs.orValue([]).size() > 0",
                "spec.externalIPs",
                "no external address",
            ),
        ),
        differs=("tunnels, plain connections and external names are seen before that only"),
    ),
)
