"""How a gateway reaches an agent, and how an agent reaches domains."""

import ipaddress
import re
from typing import Any

import pytest
from holdfast.errors import RenderError
from pydantic import ValidationError

from tests.unit.render.rendering import IMAGE, env, named, render, roles

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
                "timeouts": {"request": "600s"},
            }
        ],
    }
    (rule,) = named(rendered, "networkpolicy")["spec"]["ingress"]
    assert rule["from"][0]["podSelector"] == {"matchLabels": {"app": "gateway"}}
    assert rule["ports"] == [{"port": 8081, "protocol": "TCP"}]


@pytest.mark.parametrize(
    ("longest", "seconds"), [("1500ms", 2), ("45m", 2700), ("30d", 30 * 86_400)]
)
def test_a_gateway_waits_for_an_answer_as_long_as_a_run_may_take(
    longest: str, seconds: int
) -> None:
    [rule] = named(render(expose() | {"budget": {"timeout": longest}}, ROUTED), "route")["spec"][
        "rules"
    ]
    written = rule["timeouts"]["request"]
    # The pattern of Gateway API's own definition, for one unit.
    assert re.fullmatch(r"[0-9]{1,5}(h|m|s|ms)", written)
    assert int(written[:-1]) * {"s": 1, "m": 60}[written[-1]] == seconds


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
        "network": {"egress": [{"host": "*.example.org"}, {"host": "api.example.com"}]},
        "tools": [{"http": {"url": "http://tools.example.net:8000/mcp"}}],
    }
    policy = named(render(spec, CILIUM), "ciliumnetworkpolicy")
    assert policy["apiVersion"] == "cilium.io/v2"
    assert policy["spec"]["endpointSelector"] == {
        "matchLabels": {
            "holdfast.dev/agent": "support",
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


def test_cilium_opens_domains_to_every_pod_that_acts_for_the_agent() -> None:
    model = {"provider": "OpenAI", "name": "gpt-5", "baseUrl": "https://api.openai.com/v1"}
    rendered = render(
        {"model": model, "scaling": {"availability": {"standby": True}}},
        CILIUM | {"images": {"tools": IMAGE}},
    )
    selector = named(rendered, "ciliumnetworkpolicy")["spec"]["endpointSelector"]["matchLabels"]
    network = named(rendered, "networkpolicy")["spec"]["podSelector"]["matchLabels"]
    for role in ("deployment", "deployment-standby", "check"):
        labels = named(rendered, role)["spec"]["template"]["metadata"]["labels"]
        assert selector.items() <= labels.items(), role
        assert network.items() <= labels.items(), role


def test_cilium_takes_the_place_of_the_egress_gateway() -> None:
    spec = {"network": {"egress": [{"host": "api.example.com"}]}}
    rendered = render(spec, CILIUM | {"network": {"egressGateway": PROXY}})
    assert "HTTPS_PROXY" not in env(rendered)
    egress = named(rendered, "networkpolicy")["spec"]["egress"]
    assert [rule["ports"][0]["port"] for rule in egress] == [53]


def test_without_cilium_domains_go_through_the_egress_gateway() -> None:
    spec = {"network": {"egress": [{"host": "api.example.com"}]}}
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
    egress = named(
        render({"network": {"egress": [{"cidr": each} for each in cidrs]}}), "networkpolicy"
    )["spec"]
    blocks = [rule["to"][0]["ipBlock"] for rule in egress["egress"] if "ports" not in rule]
    assert blocks == [
        {"cidr": "10.0.0.0/8"},
        {"cidr": "128.0.0.0/2", "except": ["169.254.169.254/32"]},
        {"cidr": "fd00::/8", "except": ["fd00:ec2::254/128"]},
    ]


@pytest.mark.parametrize("stack", [CILIUM, {"network": {"egressGateway": PROXY}}])
def test_the_address_of_a_known_provider_is_open_where_nobody_says_another(
    stack: dict[str, Any],
) -> None:
    rendered = render({"model": {"provider": "Anthropic", "name": "claude-sonnet-4-6"}}, stack)
    if stack is CILIUM:
        [_, rule] = named(rendered, "ciliumnetworkpolicy")["spec"]["egress"]
        assert rule["toFQDNs"] == [{"matchName": "api.anthropic.com"}]
    else:
        proxy = named(rendered, "networkpolicy")["spec"]["egress"][-1]
        assert proxy["to"][0]["podSelector"]["matchLabels"] == PROXY["podLabels"]


SERVER = {"apiServer": {"cidrs": ["10.0.0.10/32", "10.0.0.11/32"]}}


def allows(policy: Any, address: str, port: int, protocol: str = "TCP") -> bool:
    """Whether one of the egress rules lets a packet out to an address, as a plugin judges it."""
    target = ipaddress.ip_address(address)
    return any(
        {"port": port, "protocol": protocol} in rule["ports"]
        and any(
            target in ipaddress.ip_network(peer["ipBlock"]["cidr"])
            for peer in rule["to"]
            if "ipBlock" in peer
        )
        for rule in policy["spec"]["egress"]
        if "ports" in rule
    )


@pytest.mark.parametrize(
    "spec",
    [{"network": {"egress": [{"apiServer": True}]}}, {"scaling": {"leaderElection": True}}],
)
def test_the_api_server_is_open_where_its_endpoints_are(spec: dict[str, Any]) -> None:
    policy = named(render(spec, {"network": SERVER}), "networkpolicy")
    assert allows(policy, "10.0.0.11", 6443)
    assert not allows(policy, "10.0.0.11", 22)
    assert not allows(policy, "10.96.0.1", 443)
    assert not allows(named(render({}, {"network": SERVER}), "networkpolicy"), "10.0.0.11", 6443)


def test_cilium_knows_the_api_server_by_no_range() -> None:
    rendered = render({"network": {"egress": [{"apiServer": True}]}}, CILIUM)
    [rule] = named(rendered, "ciliumnetworkpolicy")["spec"]["egress"]
    assert rule == {"toEntities": ["kube-apiserver"]}


def test_the_api_server_and_declared_ranges_are_asked_past_the_egress_gateway() -> None:
    spec = {"network": {"egress": [{"apiServer": True}, {"cidr": "10.20.0.0/16"}]}}
    rendered = render(spec, {"network": SERVER | {"egressGateway": PROXY}})
    direct = env(rendered)["NO_PROXY"].split(",")
    # The kubelet fills in the Service's address, by which clients ask for it.
    assert {"$(KUBERNETES_SERVICE_HOST)", "10.0.0.10/32", "10.20.0.0/16", ".svc"} <= {*direct}


def test_names_are_resolved_where_the_clusters_dns_listens() -> None:
    dns = {
        "namespace": "openshift-dns",
        "podLabels": {"dns.operator.openshift.io/daemonset-dns": "default"},
        "port": 5353,
        "addresses": ["169.254.20.10"],
    }
    policy = named(render({}, {"network": {"dns": dns}}), "networkpolicy")
    [rule] = policy["spec"]["egress"]
    assert {"port": 5353, "protocol": "UDP"} in rule["ports"]
    assert allows(policy, "169.254.20.10", 53, "UDP")
    assert not allows(policy, "169.254.169.254", 53, "UDP")


def test_cloud_metadata_is_no_dns() -> None:
    dns = {"namespace": "kube-system", "podLabels": {"a": "b"}, "addresses": ["169.254.169.254"]}
    with pytest.raises(ValidationError, match="must not be a metadata address"):
        render({}, {"network": {"dns": dns}})
