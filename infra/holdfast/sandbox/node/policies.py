"""NetworkPolicies as a table of nftables, for the pods of one node. Pure.

Semantics of networking.k8s.io/v1: what some policy selects in a direction is let through by a rule
of such a policy only; answers always pass; addresses are those after the translation of a
Service's. What the node itself asks (probes of the kubelet) is always let in. IPv4 only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

TABLE: Final = "holdfast_policies"
_HOOKS = ("forward", "input")
_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class NodePod:
    """A pod of the node with an address of its own.

    Attributes:
        ports: Name, protocol and number of each declared port that has a name.
    """

    namespace: str
    name: str
    address: str
    labels: Mapping[str, str]
    ports: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class _Direction:
    kind: str
    rules: str
    peers: str
    match: str
    own: str
    prefix: str


_EGRESS = _Direction("Egress", "egress", "to", "daddr", "saddr", "out")
_INGRESS = _Direction("Ingress", "ingress", "from", "saddr", "daddr", "in")


def pods_of_node(pods: Iterable[Mapping[str, Any]], node: str) -> tuple[NodePod, ...]:
    """Those of the listed pods that policies of this node concern."""
    found = (_pod(each) for each in pods if _is_concerned(each, node))
    return tuple(sorted(found, key=lambda pod: pod.address))


def ruleset(
    pods: Sequence[NodePod],
    policies: Sequence[Mapping[str, Any]],
    namespaces: Mapping[str, Mapping[str, str]],
) -> str:
    """The whole table, to be loaded in one transaction.

    Args:
        pods: Pods of the node.
        policies: NetworkPolicies of all namespaces.
        namespaces: Name and labels of each namespace.
    """
    chains: list[str] = []
    jumps: dict[str, list[str]] = {hook: [] for hook in _HOOKS}
    for pod in pods:
        for direction in (_EGRESS, _INGRESS):
            selecting = [policy for policy in policies if _selects_pod(policy, pod, direction)]
            if not selecting:
                continue
            chain = f"{direction.prefix}_{pod.address.replace('.', '_')}"
            rules = [
                text
                for policy in selecting
                for rule in policy["spec"].get(direction.rules) or ()
                for text in _rule(rule, direction, pod, pods, namespaces)
            ]
            chains.append(_chain(chain, rules, f"{pod.namespace}/{pod.name}"))
            jump = f"ip {direction.own} {pod.address} jump {chain}"
            jumps["forward"].append(jump)
            if direction is _EGRESS:
                jumps["input"].append(jump)
    hooks = [_hook(hook, jumps[hook]) for hook in _HOOKS]
    lines = "\n".join([*chains, *hooks])
    # Named and deleted first: loading it replaces whatever table there was.
    return f"table ip {TABLE} {{}}\ndelete table ip {TABLE}\ntable ip {TABLE} {{\n{lines}\n}}\n"


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector selects these labels; an empty one selects all."""
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_fits(each, labels) for each in selector.get("matchExpressions") or ())


def _fits(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    is_among = labels.get(key) in expression.get("values", ()) and key in labels
    return {
        "In": is_among,
        "NotIn": not is_among,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[operator]


def _is_concerned(pod: Mapping[str, Any], node: str) -> bool:
    spec, status = pod["spec"], pod.get("status", {})
    return (
        spec.get("nodeName") == node
        and not spec.get("hostNetwork", False)
        and bool(status.get("podIP"))
        and status.get("phase") not in _ENDED
    )


def _pod(content: Mapping[str, Any]) -> NodePod:
    metadata, spec = content["metadata"], content["spec"]
    containers = [*spec["containers"], *spec.get("initContainers", ())]
    return NodePod(
        metadata["namespace"],
        metadata["name"],
        content["status"]["podIP"],
        metadata.get("labels") or {},
        tuple(
            (port["name"], port.get("protocol", "TCP"), port["containerPort"])
            for container in containers
            for port in container.get("ports", ())
            if port.get("name")
        ),
    )


def _selects_pod(policy: Mapping[str, Any], pod: NodePod, direction: _Direction) -> bool:
    spec = policy["spec"]
    return (
        policy["metadata"]["namespace"] == pod.namespace
        and direction.kind in spec.get("policyTypes", ["Ingress"])
        and selects(spec.get("podSelector") or {}, pod.labels)
    )


def _rule(
    rule: Mapping[str, Any],
    direction: _Direction,
    pod: NodePod,
    pods: Sequence[NodePod],
    namespaces: Mapping[str, Mapping[str, str]],
) -> Iterable[str]:
    """Texts that let through what one rule allows."""
    for peer in rule.get(direction.peers) or [None]:
        block = _block(peer, direction)
        among = _pods_meant(peer, pod.namespace, pods, namespaces)
        if peer is not None and not block and not among:
            continue
        meant = f"ip {direction.match} {{ {', '.join(each.address for each in among)} }}"
        place = "" if peer is None else block or meant
        for port in rule.get("ports") or [None]:
            if port is None or not isinstance(port.get("port"), str):
                yield _words(place, _port(port), "return")
                continue
            # A name means the number that each receiving pod has given it.
            for target in among if direction is _EGRESS else (pod,):
                reached = f"ip daddr {target.address}" if direction is _EGRESS else place
                for number in _numbers(port, target):
                    yield _words(reached, number, "return")


def _words(*words: str) -> str:
    return " ".join(filter(None, words))


def _block(peer: Mapping[str, Any] | None, direction: _Direction) -> str:
    """The condition of a block of addresses; empty when a peer is none of IPv4."""
    block = (peer or {}).get("ipBlock")
    if not block or ":" in block["cidr"]:
        return ""
    left_out = ", ".join(each for each in block.get("except", ()) if ":" not in each)
    outside = f"ip {direction.match} != {{ {left_out} }}" if left_out else ""
    return _words(f"ip {direction.match} {block['cidr']}", outside)


def _pods_meant(
    peer: Mapping[str, Any] | None,
    namespace: str,
    pods: Sequence[NodePod],
    namespaces: Mapping[str, Mapping[str, str]],
) -> tuple[NodePod, ...]:
    """The pods of this node that a peer means; all of them without a peer."""
    if peer is None:
        return tuple(pods)
    if "ipBlock" in peer:
        return ()
    selector = peer.get("namespaceSelector")
    places = (
        {namespace}
        if selector is None
        else {name for name, labels in namespaces.items() if selects(selector, labels)}
    )
    wanted = peer.get("podSelector") or {}
    return tuple(each for each in pods if each.namespace in places and selects(wanted, each.labels))


def _port(port: Mapping[str, Any] | None) -> str:
    if port is None:
        return ""
    protocol = port.get("protocol", "TCP").lower()
    if port.get("port") is None:
        return f"meta l4proto {protocol}"
    last = f"-{port['endPort']}" if port.get("endPort") else ""
    return f"{protocol} dport {port['port']}{last}"


def _numbers(port: Mapping[str, Any], pod: NodePod) -> list[str]:
    protocol = port.get("protocol", "TCP")
    return [
        f"{own.lower()} dport {number}"
        for name, own, number in pod.ports
        if name == port["port"] and own == protocol
    ]


def _chain(name: str, rules: Iterable[str], whose: str) -> str:
    body = "".join(f"    {rule}\n" for rule in dict.fromkeys(rules))
    return f"  chain {name} {{ # {whose}\n{body}    counter drop\n  }}"


def _hook(name: str, jumps: Iterable[str]) -> str:
    body = "".join(f"    {jump}\n" for jump in jumps)
    return (
        f"  chain {name} {{\n"
        f"    type filter hook {name} priority 10; policy accept;\n"
        f"    ct state established,related accept\n{body}  }}"
    )
