"""Attacks on what pods may reach and who may reach them."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.policies.attacks.objects import Kube, edit, kube, pod
from tests.policies.rule_cases import with_value


def network_policy(**fields: Any) -> Kube:
    base = {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}],
    }
    return kube("networking.k8s.io/v1", "NetworkPolicy", base | fields)


def egress() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    peer = "/spec/egress/0/to/0"
    named = {"namespaceSelector": {"matchLabels": {"a": "b"}}}
    for name, selector in (
        ("every namespace", {}),
        (
            "only negative",
            {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]},
        ),
        (
            "that exists",
            {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]},
        ),
    ):
        yield (
            name,
            [with_value(network_policy(), peer, {"namespaceSelector": selector})],
            [with_value(network_policy(), peer, named)],
        )
    blocks = [{"ipBlock": {"cidr": cidr}} for cidr in ("0.0.0.0/1", "128.0.0.0/2")]
    yield "three quarters", [network_policy(egress=[{"to": blocks}])], [network_policy()]
    routed = [{"ipBlock": {"cidr": cidr}} for cidr in ("2000::/4", "3000::/5")]
    small = [{"ipBlock": {"cidr": "2001:db8::/32"}}]
    yield (
        "IPv6 that is routed",
        [network_policy(egress=[{"to": routed}])],
        [network_policy(egress=[{"to": small}])],
    )
    halves = [
        with_value(
            with_value(network_policy(), f"{peer}/ipBlock/cidr", cidr), "/metadata/name", name
        )
        for name, cidr in (("a", "0.0.0.0/1"), ("b", "128.0.0.0/1"))
    ]
    yield "two policies", [pod(), *halves], [pod(), network_policy()]
    cilium = kube(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        {"endpointSelector": {}, "egress": [{"toFQDNs": [{"matchPattern": "*.acme.com"}]}]},
    )
    for pattern in (
        "*",
        "*.com",
        "*.*",
        "*.co.uk",
        "*.github.io",
        "*.amazonaws.com",
        "*.trycloudflare.com",
        "**.org",
    ):
        attack, clean = edit(cilium, "/spec/egress/0/toFQDNs/0/matchPattern", pattern)
        yield f"domain {pattern}", [attack], [clean]
    specs = kube(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        specs=[{"endpointSelector": {}, "egress": [{"toEntities": ["kube-apiserver"]}]}],
    )
    attack, clean = edit(specs, "/specs/0/egress/0/toEntities", ["world"])
    yield "specs", [attack], [clean]
    wide = kube(
        "cilium.io/v2",
        "CiliumClusterwideNetworkPolicy",
        {"endpointSelector": {}, "egress": [{"toCIDR": ["10.0.0.0/8"]}]},
    )
    attack, clean = edit(wide, "/spec/egress/0/toCIDR", ["0.0.0.0/0"])
    yield "cluster-wide Cilium", [attack], [clean]
    admin = kube(
        "policy.networking.k8s.io/v1alpha1",
        "AdminNetworkPolicy",
        {"priority": 1, "egress": [{"action": "Allow", "to": [{"networks": ["10.0.0.0/8"]}]}]},
    )
    attack, clean = edit(admin, "/spec/egress/0/to/0/networks", ["0.0.0.0/0"])
    yield "AdminNetworkPolicy", [attack], [clean]
    for group in ("projectcalico.org/v3", "crd.projectcalico.org/v1"):
        for kind in ("NetworkPolicy", "GlobalNetworkPolicy"):
            calico = kube(
                group,
                kind,
                {"egress": [{"action": "Allow", "destination": {"nets": ["10.0.0.0/8"]}}]},
            )
            attack, clean = edit(calico, "/spec/egress/0/destination", {}, {"nets": ["10.0.0.0/8"]})
            yield f"Calico {group} {kind}", [attack], [clean]
    antrea = kube(
        "crd.antrea.io/v1beta1",
        "ClusterNetworkPolicy",
        {"egress": [{"action": "Allow", "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
    )
    attack, clean = edit(antrea, "/spec/egress/0/to/0/ipBlock/cidr", "0.0.0.0/0")
    yield "Antrea", [attack], [clean]
    firewall = kube(
        "k8s.ovn.org/v1",
        "EgressFirewall",
        {"egress": [{"type": "Allow", "to": {"cidrSelector": "10.0.0.0/8"}}]},
    )
    attack, clean = edit(firewall, "/spec/egress/0/to/cidrSelector", "0.0.0.0/0")
    yield "EgressFirewall", [attack], [clean]
    entry = kube(
        "networking.istio.io/v1",
        "ServiceEntry",
        {"hosts": ["api.acme.com"], "location": "MESH_EXTERNAL"},
    )
    attack, clean = edit(entry, "/spec/hosts", ["*.com"])
    yield "ServiceEntry", [attack], [clean]


def metadata() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for address in (
        "169.254.169.254/32",
        "100.100.100.200/32",
        "192.0.0.192/32",
        "168.63.129.16/32",
        "fd00:ec2::254/128",
        "169.254.42.42/32",
        "fd20:ce::254/128",
        "169.254.170.23/32",
        "fe80::a9fe:a9fe/128",
        "169.254.0.0/16",
        "::ffff:a9fe:a9fe/128",
    ):
        yield (
            address,
            [with_value(network_policy(), "/spec/egress/0/to/0/ipBlock/cidr", address)],
            [network_policy()],
        )
    cilium = kube(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        {"endpointSelector": {}, "egress": [{"toFQDNs": [{"matchName": "api.acme.com"}]}]},
    )
    attack, clean = edit(cilium, "/spec/egress/0/toFQDNs/0/matchName", "metadata.google.internal")
    yield "by name", [attack], [clean]
    slices = kube("discovery.k8s.io/v1", "EndpointSlice", endpoints=[{"addresses": ["10.0.0.1"]}])
    attack, clean = edit(slices, "/endpoints/0/addresses", ["169.254.169.254"])
    yield "by a Service of its own", [attack], [clean]
    calico = kube(
        "projectcalico.org/v3",
        "GlobalNetworkPolicy",
        {"egress": [{"action": "Allow", "destination": {"nets": ["10.0.0.0/8"]}}]},
    )
    attack, clean = edit(calico, "/spec/egress/0/destination/nets", ["169.254.0.0/16"])
    yield "by Calico", [attack], [clean]


def exposure() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    service = kube("v1", "Service", {"type": "ClusterIP", "selector": {"a": "b"}})
    for kind in ("LoadBalancer", "NodePort", "ExternalName"):
        attack, clean = edit(service, "/spec/type", kind)
        yield kind, [attack], [clean]
    attack, clean = edit(
        service, "/metadata/annotations", {"tailscale.com/funnel": "true"}, {"note": "x"}
    )
    yield "funnel", [attack], [clean]
    for api, kind in (
        ("gateway.networking.k8s.io/v1alpha2", "TCPRoute"),
        ("gateway.networking.k8s.io/v1alpha2", "UDPRoute"),
        ("networking.cfargotunnel.com/v1alpha1", "TunnelBinding"),
        ("ngrok.k8s.ngrok.com/v1alpha1", "AgentEndpoint"),
        ("tailscale.com/v1alpha1", "Connector"),
        ("multicluster.x-k8s.io/v1alpha1", "ServiceExport"),
        ("configuration.konghq.com/v1beta1", "TCPIngress"),
    ):
        yield kind, [kube(api, kind, {})], [service]
    known = {
        "metadata": {"name": "a", "namespace": "agents", "annotations": {"authentication": "oidc"}}
    }
    for api, kind, spec in (
        ("route.openshift.io/v1", "Route", {"tls": {"termination": "edge"}}),
        ("traefik.io/v1alpha1", "IngressRoute", {"tls": {"secretName": "t"}}),
        (
            "projectcontour.io/v1",
            "HTTPProxy",
            {"virtualhost": {"fqdn": "a.example", "tls": {"secretName": "t"}}},
        ),
        ("getambassador.io/v3alpha1", "Mapping", {"tls": "ctx"}),
        ("zalando.org/v1", "RouteGroup", {"tls": [{"hosts": ["a"]}]}),
        (
            "networking.istio.io/v1",
            "VirtualService",
            {"gateways": ["edge"], "tls": [{"match": []}]},
        ),
        ("gateway.networking.k8s.io/v1", "GRPCRoute", {"rules": [{"backendRefs": []}]}),
    ):
        clean = kube(api, kind, spec) | known
        yield f"{kind} for anyone", [kube(api, kind, spec)], [clean]
    ingress = (
        kube("networking.k8s.io/v1", "Ingress", {"tls": [{"hosts": ["a"], "secretName": "t"}]})
        | known
    )
    attack, clean = edit(ingress, "/spec/tls", [{}])
    yield "empty tls", [attack], [clean]
    for words in (
        ["cloudflared", "tunnel", "run"],
        ["ngrok", "http", "80"],
        ["ssh", "-R", "80:localhost:80", "serveo.net"],
    ):
        attack, clean = edit(pod(), "/spec/containers/0/command", words, ["server"])
        yield " ".join(words[:2]), [attack], [clean]
