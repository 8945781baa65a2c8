"""NetworkPolicies as rules of nftables: who is let through, told by the rules of a pod's chain."""

from typing import Any

import pytest
from holdfast.sandbox.node.policies import NodePod, pods_of_node, ruleset, selects

NAMESPACES = {"a": {"team": "a"}, "b": {"team": "b"}}
WEB = NodePod("a", "web", "10.0.0.2", {"app": "web"}, (("http", "TCP", 8080),))
CLIENT = NodePod("a", "client", "10.0.0.3", {"app": "client"}, ())
OTHER = NodePod("b", "other", "10.0.0.4", {"app": "client"}, (("http", "TCP", 9090),))
PODS = (WEB, CLIENT, OTHER)


def policy(spec: dict[str, Any], namespace: str = "a") -> dict[str, Any]:
    return {"metadata": {"namespace": namespace, "name": "p"}, "spec": spec}


def chains(*policies: dict[str, Any]) -> dict[str, list[str]]:
    """Rules of each chain of a pod; a chain ends in a drop."""
    found: dict[str, list[str]] = {}
    for line in ruleset(PODS, policies, NAMESPACES).splitlines():
        if line.startswith("  chain "):
            name = line.split()[1]
        elif line.startswith("    ") and not line.endswith("policy accept;"):
            found.setdefault(name, []).append(line.strip())
    return {
        name: [rule for rule in rules if rule != "counter drop"]
        for name, rules in found.items()
        if name not in ("forward", "input")
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"policyTypes": ["Ingress"]}, {"in_10_0_0_2": []}),
        # Without types a policy is one for what comes in.
        ({"ingress": [{}]}, {"in_10_0_0_2": ["return"]}),
        (
            {"policyTypes": ["Ingress", "Egress"], "ingress": [{}]},
            {"in_10_0_0_2": ["return"], "out_10_0_0_2": []},
        ),
        (
            {"ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "client"}}}]}]},
            {"in_10_0_0_2": ["ip saddr { 10.0.0.3 } return"]},
        ),
        (
            {
                "ingress": [
                    {
                        "from": [
                            {
                                "namespaceSelector": {"matchLabels": {"team": "b"}},
                                "podSelector": {"matchLabels": {"app": "client"}},
                            }
                        ],
                        "ports": [{"port": "http"}, {"port": 53, "protocol": "UDP"}],
                    }
                ]
            },
            {
                "in_10_0_0_2": [
                    "ip saddr { 10.0.0.4 } tcp dport 8080 return",
                    "ip saddr { 10.0.0.4 } udp dport 53 return",
                ]
            },
        ),
        # A peer that selects nobody lets nobody through.
        (
            {"ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "x"}}}]}]},
            {"in_10_0_0_2": []},
        ),
        (
            {
                "policyTypes": ["Egress"],
                "egress": [
                    {
                        "to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}],
                        "ports": [{"port": 80, "endPort": 90}],
                    }
                ],
            },
            {
                "out_10_0_0_2": [
                    "ip daddr 10.0.0.0/8 ip daddr != { 10.1.0.0/16 } tcp dport 80-90 return"
                ]
            },
        ),
        # The name of a port means the number that each receiving pod has given it.
        (
            {
                "policyTypes": ["Egress"],
                "egress": [{"to": [{"namespaceSelector": {}}], "ports": [{"port": "http"}]}],
            },
            {
                "out_10_0_0_2": [
                    "ip daddr 10.0.0.2 tcp dport 8080 return",
                    "ip daddr 10.0.0.4 tcp dport 9090 return",
                ]
            },
        ),
    ],
)
def test_what_a_policy_lets_through(spec: dict[str, Any], expected: dict[str, list[str]]) -> None:
    assert chains(policy({"podSelector": {"matchLabels": {"app": "web"}}} | spec)) == expected


def test_several_policies_of_one_pod_are_added_up() -> None:
    first = policy({"podSelector": {}, "ingress": [{"ports": [{"port": 1}]}]})
    second = policy({"podSelector": {}, "ingress": [{"ports": [{"port": 2}]}]})

    assert chains(first, second)["in_10_0_0_2"] == ["tcp dport 1 return", "tcp dport 2 return"]


def test_policies_of_other_namespaces_and_pods_without_one_change_nothing() -> None:
    assert set(chains(policy({"podSelector": {}, "ingress": []}, namespace="b"))) == {"in_10_0_0_4"}


def test_what_leaves_for_the_node_itself_is_judged_as_well() -> None:
    text = ruleset(PODS, [policy({"podSelector": {}, "policyTypes": ["Egress"]})], NAMESPACES)

    of_input = text.partition("chain input")[2]
    assert "ip saddr 10.0.0.2 jump out_10_0_0_2" in of_input
    assert "ct state established,related accept" in of_input


@pytest.mark.parametrize(
    ("expression", "is_selected"),
    [
        ({"key": "app", "operator": "In", "values": ["web"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["web"]}, False),
        ({"key": "tier", "operator": "NotIn", "values": ["web"]}, True),
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "app", "operator": "DoesNotExist"}, False),
    ],
)
def test_selectors(expression: dict[str, Any], is_selected: bool) -> None:
    assert selects({"matchExpressions": [expression]}, {"app": "web"}) is is_selected


def test_only_running_pods_of_the_node_with_an_address_of_their_own_concern_it() -> None:
    def pod(name: str, node: str = "n", **facts: object) -> dict[str, Any]:
        status = {"podIP": "10.0.0.9", "phase": "Running"} | facts
        spec: dict[str, Any] = {"nodeName": node, "containers": [{"name": "c"}]}
        return {"metadata": {"namespace": "a", "name": name}, "spec": spec, "status": status}

    with_host_network = pod("host")
    with_host_network["spec"]["hostNetwork"] = True
    listed = [
        pod("mine"),
        pod("elsewhere", node="m"),
        pod("ended", phase="Succeeded"),
        pod("new", podIP=""),
        with_host_network,
    ]

    assert [each.name for each in pods_of_node(listed, "n")] == ["mine"]
