"""What a network policy selects, governs and allows, whatever kind it is written as.

Knows NetworkPolicy, Cilium's own kinds, and the policy that agent-sandbox makes from a
SandboxTemplate.
"""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from holdfast_policies.facts.selectors import selects
from holdfast_policies.model.cel import listed
from holdfast_policies.model.kinds import CILIUM_NETWORK_POLICY
from holdfast_policies.model.subject import Subject, items, text

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_ADDRESS_BITS = ((4, 32), (6, 128))


def governed_directions(policy: Subject) -> frozenset[str]:
    """Which of `Ingress` and `Egress` a policy restricts for the pods it selects.

    Source: NetworkPolicySpec.policyTypes, with its defaults; Cilium: "default deny" is switched on
    by a section for the direction.
    """
    spec = policy.spec
    if policy.kind == CILIUM_NETWORK_POLICY:
        sections = {"Ingress": ("ingress", "ingressDeny"), "Egress": ("egress", "egressDeny")}
        return frozenset(
            direction
            for direction, names in sections.items()
            if any(spec.get(name) is not None for name in names)
        )
    declared = items(spec.get("policyTypes"))
    if declared:
        return frozenset(text(direction) for direction in declared)
    return frozenset({"Ingress", "Egress"} if items(spec.get("egress")) else {"Ingress"})


def selects_pod(policy: Subject, namespace: str, labels: Mapping[str, Any]) -> bool:
    """Whether a policy applies to a pod of a namespace with these labels."""
    if policy.namespace != namespace:
        return False
    if policy.kind == CILIUM_NETWORK_POLICY:
        return selects(policy.spec.get("endpointSelector"), labels, prefixes=("k8s:", "any:"))
    return selects(policy.spec.get("podSelector"), labels)


@lru_cache(maxsize=8192)
def network(cidr: str) -> Network | None:
    """An address range; None for what is none."""
    try:
        return ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return None


def covers_everything(cidrs: Iterable[str]) -> str:
    """Of several address ranges the catch-all that they make up together; empty for none.

    `0.0.0.0/1` and `128.0.0.0/1` are `0.0.0.0/0`. What is no range says nothing.
    """
    networks = [found for cidr in cidrs if (found := network(cidr)) is not None]
    for version, bits in _ADDRESS_BITS:
        of_version = [each for each in networks if each.version == version]
        # Too few addresses to be all of them, which is so of most ranges, need not be merged.
        if sum(1 << (bits - each.prefixlen) for each in of_version) < 1 << bits:
            continue
        merged = list(ipaddress.collapse_addresses(of_version))  # type: ignore[type-var]  # one kind
        if any(each.prefixlen == 0 for each in merged):
            return str(merged[0])
    return ""


_SPEC = "variables.subject.?spec"
EGRESS_VARIABLES = (
    (
        "egress",
        'object.kind == "SandboxTemplate"'
        f' ? ({_SPEC}.?networkPolicyManagement.orValue("") == "Unmanaged" ? []'
        f" : {_SPEC}.?networkPolicy.?egress.orValue([]))"
        f' : object.kind == "NetworkPolicy" && ({_SPEC}.?policyTypes.orValue([]).size() == 0'
        f' || "Egress" in {_SPEC}.?policyTypes.orValue([]))'
        f" ? {_SPEC}.?egress.orValue([]) : []",
    ),
    (
        "ciliumEgress",
        f'object.kind == "CiliumNetworkPolicy" ? {_SPEC}.?egress.orValue([]) : []',
    ),
    (
        "egressPath",
        'object.kind == "SandboxTemplate" ? "spec.networkPolicy.egress" : "spec.egress"',
    ),
)
"""CEL: the egress rules of a network policy, where it governs egress at all."""

_SIXTEENTHS = (
    [f"{first}.0.0.0/4" for first in range(0, 256, 16)],
    [f"{first:x}000::/4" for first in range(16)],
)


def whole(cidr: str) -> str:
    """CEL: whether one address range leaves no address out."""
    return f'{cidr}.matches("/0+$")'


def holds(cidr: str, other: str) -> str:
    """CEL: whether an address range takes in another one."""
    return f"isCIDR({cidr}) && cidr({cidr}).containsCIDR({other})"


def whole_together(holds_block: Callable[[str], str]) -> str:
    """CEL: whether ranges leave no address out together, looked at in sixteenths of all.

    Args:
        holds_block: CEL: whether one of the ranges takes in the block of that name.
    """
    return " || ".join(f"{listed(blocks)}.all(k, {holds_block('k')})" for blocks in _SIXTEENTHS)
