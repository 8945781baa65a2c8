"""How a gateway reaches an agent, and how an agent reaches domains."""

from typing import Any

import pytest
from holdfast.errors import RenderError

from tests.unit.render.rendering import env, named, render, roles

GATEWAY = {"namespace": "edge", "podLabels": {"app": "gateway"}}
PROXY = {
    "namespace": "egress",
    "podLabels": {"app": "proxy"},
    "port": 3128,
    "url": "http://proxy.egress.svc:3128",
}
ROUTED = {"controllers": ["gateway-api"], "network": {"gateway": GATEWAY}}
CILIUM = {"controllers": ["cilium"]}


def expose(**fields: Any) -> dict[str, Any]:
    return {
        "network": {"expose": {"gatewayRef": {"namespace": "edge", "name": "public"}, **fields}}
    }


def test_a_gateway_routes_to_the_service_and_its_pods_may_call() -> None:
    rendered = render(expose(port=8081, hosts=["support.example.com"], path="/support"), ROUTED)
    route = named(rendered, "route")
    assert (route["apiVersion"], route["metadata"]["name"]) == (
        "gateway.networking.k8s.io/v1",
        "support",
    )
    assert route["spec"] == {
        "parentRefs": [
            {
                "group": "gateway.networking.k8s.io",
                "kind": "Gateway",
                "namespace": "edge",
                "name": "public",
            }
        ],
        "hostnames": ["support.example.com"],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/support"}}],
                "backendRefs": [
                    {"group": "", "kind": "Service", "name": "support", "port": 8081, "weight": 1}
                ],
            }
        ],
    }
    (rule,) = named(rendered, "networkpolicy")["spec"]["ingress"]
    assert rule["from"][0]["podSelector"] == {"matchLabels": {"app": "gateway"}}
    assert rule["ports"] == [{"port": 8081, "protocol": "TCP"}]


def test_a_route_without_path_takes_them_all_and_may_name_a_listener() -> None:
    spec = {"network": {"expose": {"gatewayRef": {"name": "public", "sectionName": "https"}}}}
    route = named(render(spec, ROUTED), "route")["spec"]
    assert route["rules"][0]["matches"][0]["path"]["value"] == "/"
    assert route["parentRefs"][0]["namespace"] == "cx"
    assert route["parentRefs"][0]["sectionName"] == "https"
    assert "hostnames" not in route


def test_without_a_gateway_there_is_no_route() -> None:
    assert "route" not in roles(render({}, ROUTED))


def test_a_route_needs_gateway_api() -> None:
    with pytest.raises(RenderError, match=r"expose\.gatewayRef needs Gateway API"):
        render(expose(), {"network": {"gateway": GATEWAY}})


def test_cilium_opens_domains_by_name_each_at_its_port() -> None:
    spec = {
        "network": {"egress": {"domains": ["*.example.org", "api.example.com"]}},
        "tools": [{"http": {"url": "http://tools.example.net:8000/mcp"}}],
    }
    policy = named(render(spec, CILIUM), "ciliumnetworkpolicy")
    assert policy["apiVersion"] == "cilium.io/v2"
    assert policy["spec"]["endpointSelector"] == {
        "matchLabels": {
            "app.kubernetes.io/name": "support",
            "app.kubernetes.io/instance": "dev",
        }
    }
    look_ups, https, tools = policy["spec"]["egress"]
    assert look_ups["toEndpoints"][0]["matchLabels"] == {
        "k8s:io.kubernetes.pod.namespace": "kube-system",
        "k8s:k8s-app": "kube-dns",
    }
    assert look_ups["toPorts"][0]["rules"] == {"dns": [{"matchPattern": "*"}]}
    assert https == {
        "toFQDNs": [{"matchPattern": "*.example.org"}, {"matchName": "api.example.com"}],
        "toPorts": [{"ports": [{"port": "443", "protocol": "TCP"}]}],
    }
    assert tools["toFQDNs"] == [{"matchName": "tools.example.net"}]
    assert tools["toPorts"][0]["ports"][0]["port"] == "8000"


def test_cilium_takes_the_place_of_the_egress_gateway() -> None:
    spec = {"network": {"egress": {"domains": ["api.example.com"]}}}
    rendered = render(spec, CILIUM | {"network": {"egressGateway": PROXY}})
    assert "HTTPS_PROXY" not in env(rendered)
    egress = named(rendered, "networkpolicy")["spec"]["egress"]
    assert [rule["ports"][0]["port"] for rule in egress] == [53]


def test_without_cilium_domains_go_through_the_egress_gateway() -> None:
    spec = {"network": {"egress": {"domains": ["api.example.com"]}}}
    rendered = render(spec, {"network": {"egressGateway": PROXY}})
    assert env(rendered)["HTTPS_PROXY"] == "http://proxy.egress.svc:3128"
    egress = named(rendered, "networkpolicy")["spec"]["egress"]
    assert [rule["ports"][0]["port"] for rule in egress] == [53, 3128]
    assert "ciliumnetworkpolicy" not in roles(rendered)


def test_an_agent_that_reaches_no_domain_has_no_policy_of_domains() -> None:
    assert "ciliumnetworkpolicy" not in roles(render({}, CILIUM))


@pytest.mark.parametrize(
    ("environment", "url", "words"),
    [
        pytest.param({}, "https://api.example.com", "neither Cilium nor an egress", id="nothing"),
        pytest.param(CILIUM, "https://192.0.2.7", "which no declared range covers", id="address"),
    ],
)
def test_what_nothing_opens_is_refused(environment: dict[str, Any], url: str, words: str) -> None:
    with pytest.raises(RenderError, match=words):
        render({"tools": [{"http": {"url": url}}]}, environment)


def test_metadata_addresses_are_left_out_of_ranges_that_hold_them() -> None:
    cidrs = ["10.0.0.0/8", "128.0.0.0/2", "fd00::/8"]
    egress = named(render({"network": {"egress": {"cidrs": cidrs}}}), "networkpolicy")["spec"]
    blocks = [rule["to"][0]["ipBlock"] for rule in egress["egress"] if "ports" not in rule]
    assert blocks == [
        {"cidr": "10.0.0.0/8"},
        {"cidr": "128.0.0.0/2", "except": ["169.254.169.254/32"]},
        {"cidr": "fd00::/8", "except": ["fd00:ec2::254/128"]},
    ]
