"""Network policies: both directions are denied but for what is declared, or follows from it."""

import pytest

from tests.unit.render.connected_agent import env, only, render


def test_nobody_may_call_and_only_dns_and_telemetry_are_reached_by_default() -> None:
    policy = only(render({}), "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["ports"][0]["port"] for rule in policy["egress"]] == [53, 4317]
    assert "ingress" not in policy
    policy = only(render({"telemetry": {"metrics": {}}}), "NetworkPolicy")["spec"]
    assert [rule["ports"][0]["port"] for rule in policy["ingress"]] == [9090]


def test_deny_all_leaves_only_name_resolution() -> None:
    policy = only(render({"network": {"egress": {"mode": "denyAll"}}}), "NetworkPolicy")["spec"]
    assert [rule["ports"][0]["port"] for rule in policy["egress"]] == [53]


def test_callers_peers_and_ranges_are_named() -> None:
    rendered = render(
        {
            "network": {
                "ingressFrom": ["gateway", "planner", {"namespace": "ops"}],
                "peers": [{"namespace": "clinic", "name": "vision"}],
                "egress": {"cidrs": ["169.254.0.0/15", "10.20.0.0/16"]},
            }
        }
    )
    policy = only(rendered, "NetworkPolicy")["spec"]
    gateway, planner, ops = policy["ingress"][0]["from"]
    assert gateway["podSelector"]["matchLabels"] == {"app": "gateway"}
    assert planner["podSelector"]["matchLabels"]["holdfast.dev/agent"] == "planner"
    assert ops == {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ops"}}}
    vision = policy["egress"][1]
    assert vision["ports"] == [{"port": 9000, "protocol": "TCP"}]
    blocks = [rule["to"][0]["ipBlock"] for rule in policy["egress"][-2:]]
    assert blocks == [
        {"cidr": "169.254.0.0/15", "except": ["169.254.169.254/32"]},
        {"cidr": "10.20.0.0/16"},
    ]


def test_domains_go_through_the_egress_gateway() -> None:
    rendered = render({"network": {"egress": {"domains": ["api.example.com"]}}})
    rule = only(rendered, "NetworkPolicy")["spec"]["egress"][-1]
    assert rule["to"][0]["podSelector"]["matchLabels"] == {"app": "proxy"}
    assert env(rendered)["HTTPS_PROXY"] == "http://proxy.egress.svc:3128"


@pytest.mark.parametrize(
    ("host", "opened"),
    [
        pytest.param("kb", "cx", id="Service of the namespace"),
        pytest.param("kb.other.svc", "other", id="Service of another"),
        pytest.param("kb-0.kb.other.svc.cluster.local", "other", id="pod of a headless Service"),
        pytest.param("kb.other.svc.cluster.local.", "other", id="with the dot at its end"),
        pytest.param("kb.example.com", "egress", id="domain"),
        pytest.param("203.0.113.7", "egress", id="address"),
        pytest.param("10.20.0.7", None, id="address in a declared range"),
        pytest.param("127.0.0.1", None, id="the pod itself"),
    ],
)
def test_a_tools_host_is_opened_where_it_is(host: str, opened: str | None) -> None:
    tool = {"http": {"url": f"http://{host}:8000"}}
    rendered = render({"tools": [tool], "network": {"egress": {"cidrs": ["10.20.0.0/16"]}}})
    rules = only(rendered, "NetworkPolicy")["spec"]["egress"]
    namespaces = [
        peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
        for rule in rules
        for peer in rule["to"]
        if "namespaceSelector" in peer
    ]
    always = ["kube-system", "observability"]
    assert sorted(namespaces) == sorted([*always, opened] if opened else always)
