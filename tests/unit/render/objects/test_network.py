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


def test_a_caller_reaches_every_declared_port_in_its_protocol() -> None:
    ports = [
        {"name": "grpc", "containerPort": 50051},
        {"name": "media", "containerPort": 5004, "protocol": "UDP"},
    ]
    spec = {"network": {"ingressFrom": ["planner"]}, "container": {"ports": ports}}
    rendered = render(spec)
    opened = [
        (port["port"], port["protocol"])
        for rule in only(rendered, "NetworkPolicy")["spec"]["ingress"]
        for port in rule["ports"]
    ]
    assert opened == [(8080, "TCP"), (50051, "TCP"), (5004, "UDP")]
    served = {
        (each["port"], each["protocol"]) for each in only(rendered, "Service")["spec"]["ports"]
    }
    assert served <= set(opened)


def test_deny_all_leaves_only_name_resolution() -> None:
    policy = only(render({"network": {"denyEgress": True}}), "NetworkPolicy")["spec"]
    assert [rule["ports"][0]["port"] for rule in policy["egress"]] == [53]


def test_callers_agents_and_ranges_are_named() -> None:
    rendered = render(
        {
            "network": {
                "ingressFrom": ["gateway", "planner", {"namespace": "ops"}],
                "egress": [
                    {"agent": {"namespace": "clinic", "name": "vision"}},
                    {"cidr": "169.254.0.0/15"},
                    {"cidr": "10.20.0.0/16"},
                ],
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
    rendered = render({"network": {"egress": [{"host": "api.example.com"}]}})
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
    rendered = render({"tools": [tool], "network": {"egress": [{"cidr": "10.20.0.0/16"}]}})
    rules = only(rendered, "NetworkPolicy")["spec"]["egress"]
    namespaces = [
        peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
        for rule in rules
        for peer in rule["to"]
        if "namespaceSelector" in peer
    ]
    always = ["kube-system", "observability"]
    assert sorted(namespaces) == sorted([*always, opened] if opened else always)


OPENED = [
    pytest.param(
        {"cidr": "10.20.0.0/16", "ports": [{"port": 5432}, {"port": 514, "protocol": "UDP"}]},
        {"ipBlock": {"cidr": "10.20.0.0/16"}},
        [(5432, "TCP"), (514, "UDP")],
        id="a range at two ports",
    ),
    pytest.param(
        {"service": {"namespace": "data", "name": "cache"}, "ports": [{"port": 6379}]},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "data"}}},
        [(6379, "TCP")],
        id="a Service of another namespace",
    ),
    pytest.param(
        {"service": {"name": "dns"}, "ports": [{"port": 5353, "protocol": "UDP"}]},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "cx"}}},
        [(5353, "UDP")],
        id="a Service of its own namespace by UDP",
    ),
]


@pytest.mark.parametrize(("entry", "target", "ports"), OPENED)
def test_an_entry_of_egress_opens_what_it_names_at_its_ports(
    entry: dict[str, object], target: dict[str, object], ports: list[tuple[int, str]]
) -> None:
    rules = only(render({"network": {"egress": [entry]}}), "NetworkPolicy")["spec"]["egress"]
    opened = [
        (port["port"], port["protocol"])
        for rule in rules
        if target in rule["to"]
        for port in rule["ports"]
    ]
    assert opened == ports


def test_an_agent_is_reached_at_the_ports_that_an_entry_gives() -> None:
    entry = {"agent": {"namespace": "clinic", "name": "vision"}, "ports": [{"port": 50051}]}
    rules = only(render({"network": {"egress": [entry]}}), "NetworkPolicy")["spec"]["egress"]
    [vision] = [
        rule
        for rule in rules
        if rule["to"][0].get("podSelector", {}).get("matchLabels", {}).get("holdfast.dev/agent")
    ]
    assert vision["ports"] == [{"port": 50051, "protocol": "TCP"}]


def test_an_address_is_covered_only_at_the_ports_of_its_range() -> None:
    tool = {"http": {"url": "https://10.20.0.7:8443"}}
    egress = [{"cidr": "10.20.0.0/16", "ports": [{"port": 5432}]}]
    rendered = render({"tools": [tool], "network": {"egress": egress}})
    rule = only(rendered, "NetworkPolicy")["spec"]["egress"][-2]
    assert rule["to"][0]["podSelector"]["matchLabels"] == {"app": "proxy"}, "it takes the gateway"
