"""No pod may ask the cloud's metadata service, which hands out the node's credentials."""

import ipaddress
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from holdfast_policies.api import (
    CILIUM_NETWORK_POLICY,
    NETWORK_POLICY,
    SANDBOX_TEMPLATE,
    SERVICE,
    Admission,
    Breach,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    breaches,
    each,
    field_path,
    items,
    mapping,
    text,
)
from holdfast_policies.facts.destinations import OTHER_KINDS, egress_of
from holdfast_policies.facts.network_policies import (
    EGRESS_VARIABLES,
    governed_directions,
    network,
)

ADDRESSES = Parameter(
    name="addresses",
    description="Addresses of metadata services; what is local to a node on purpose is left out.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=[
        *("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "169.254.170.2"),
        *("169.254.170.23", "fd00:ec2::23", "192.0.0.192", "169.254.0.23", "168.63.129.16"),
        *("fd20:ce::254", "169.254.42.42", "fd00:42::42", "fe80::a9fe:a9fe", "169.254.169.250"),
        "64:ff9b::a9fe:a9fe",
    ],
)


def check_policy(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Address ranges of a NetworkPolicy, and of the policy within a SandboxTemplate."""
    if subject.kind == SANDBOX_TEMPLATE:
        egress = mapping(subject.spec.get("networkPolicy")).get("egress")
        path = "spec.networkPolicy.egress"
    elif subject.kind == NETWORK_POLICY and "Egress" in governed_directions(subject):
        egress, path = subject.spec.get("egress"), "spec.egress"
    else:
        return

    def check_peer(peer: object, peer_path: str) -> Iterator[Breach]:
        block = mapping(mapping(peer).get("ipBlock"))
        yield from _check_range(
            block.get("cidr"), items(block.get("except")), f"{peer_path}.ipBlock", settings
        )

    def check_rule(rule: object, rule_path: str) -> Iterator[Finding]:
        yield from each(mapping(rule).get("to"), field_path(rule_path, "to"), check_peer)

    yield from each(egress, path, check_rule)


def check_cilium(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Address ranges of a CiliumNetworkPolicy."""

    def check_cidr(cidr: object, path: str) -> Iterator[Breach]:
        yield from _check_range(cidr, [], path, settings)

    def check_block(block: object, path: str) -> Iterator[Breach]:
        declared = mapping(block)
        yield from _check_range(declared.get("cidr"), items(declared.get("except")), path, settings)

    def check_rule(rule: object, path: str) -> Iterator[Finding]:
        declared = mapping(rule)
        yield from each(declared.get("toCIDR"), field_path(path, "toCIDR"), check_cidr)
        yield from each(declared.get("toCIDRSet"), field_path(path, "toCIDRSet"), check_block)

    if subject.kind == CILIUM_NETWORK_POLICY:
        yield from each(subject.spec.get("egress"), "spec.egress", check_rule)


_NAMES = frozenset(
    {
        "metadata.google.internal",
        "metadata.goog",
        "metadata",
        "instance-data",
        "metadata.azure.internal",
    }
    | {
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "metadata.platformequinix.com",
    }
    | {"api.metadata.cloud.ibm.com", "metadata.oraclecloud.com", "169.254.169.254"}
)
ENDPOINTS = frozenset({Kind("", "Endpoints"), Kind("discovery.k8s.io", "EndpointSlice")})


def check_every_kind(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Ranges and names in policies of the other kinds, and names in all of them."""
    if subject.kind in ENDPOINTS:
        yield from _check_endpoints(subject, settings)
    elif subject.kind == SERVICE:
        if text(subject.spec.get("externalName")).rstrip(".").lower() in _NAMES:
            yield Breach("spec.externalName", "a metadata service", "no metadata service")
    elif subject.kind in OTHER_KINDS or subject.kind == CILIUM_NETWORK_POLICY:
        for egress in egress_of(subject):
            is_told = subject.kind == CILIUM_NETWORK_POLICY and egress.path.startswith("spec.")
            for cidr in () if is_told else egress.cidrs:
                yield from _check_range(cidr, list(egress.excepted), egress.path, settings)
            for name in egress.domains:
                if any(fnmatchcase(known, name.rstrip(".").lower()) for known in _NAMES):
                    yield Breach(egress.path, "a metadata service by name", "no metadata service")


def _check_endpoints(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A Service whose addresses were written by its author."""
    found = [
        address
        for holder in (
            *items(subject.object.get("subsets")),
            *items(subject.object.get("endpoints")),
        )
        for address in items(mapping(holder).get("addresses"))
    ]
    for address in found:
        written = text(address) or text(mapping(address).get("ip"))
        if written and any(_holds(written, known) for known in settings["addresses"]):
            yield Breach("endpoints", "the address of a metadata service", "no metadata service")


def _check_range(cidr: object, excepted: list[Any], path: str, given: Settings) -> Iterator[Breach]:
    reached = [
        address
        for address in given["addresses"]
        if _holds(cidr, address) and not any(_holds(each_cidr, address) for each_cidr in excepted)
    ]
    if reached:
        yield Breach(
            path,
            got=f"{text(cidr)}, which holds {', '.join(reached)}",
            required="no metadata address",
            remedy="list the metadata addresses under except, or name smaller ranges",
        )


def _holds(cidr: object, address: str) -> bool:
    held = network(text(cidr))
    if held is None:
        return False
    return any(form in held for form in _forms(address))


@lru_cache(maxsize=256)
def _forms(address: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, ...]:
    """An address as rules of networks may have it.

    Cilium and Calico also take an IPv4 address in the form of IPv6.
    """
    forms = (address, f"::ffff:{address}") if "." in address else (address,)
    return tuple(ipaddress.ip_address(form) for form in forms)


def _reaches(cidr: str, excepted: str) -> str:
    """CEL: whether an optional range holds an address that the ranges excepted do not."""
    given = f'{cidr}.orValue("")'
    left_out = f"{excepted}.orValue([])" if excepted else "[]"
    return (
        f"isCIDR({given}) && variables.settings.addresses.exists(a, cidr({given}).containsIP(a)"
        f" && !{left_out}.exists(e, isCIDR(e) && cidr(e).containsIP(a)))"
    )


RULE = Rule(
    id="metadata-endpoint-blocked",
    title="Metadata service out of reach",
    description="A network policy lets its pods ask the metadata service of the cloud",
    rationale="Whoever talks the agent into one request there holds the credentials of the node.",
    remedy="except the metadata addresses from every range",
    source="https://kubernetes.io/docs/concepts/security/security-checklist/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-7",
        "AC-6",
        "ASI03",
    ),
    fix=Fix.NO,
    kinds=frozenset({NETWORK_POLICY, CILIUM_NETWORK_POLICY, SANDBOX_TEMPLATE, SERVICE})
    | OTHER_KINDS
    | ENDPOINTS,
    check=all_of(check_policy, check_cilium, check_every_kind),
    parameters=(ADDRESSES,),
    admission=Admission(
        (
            breaches(
                "variables.egress",
                "r",
                "r.?to.orValue([])"
                f".exists(p, {_reaches('p.?ipBlock.?cidr', 'p.?ipBlock.?except')})",
                "variables.egressPath",
                "no metadata address within a range",
            ),
            breaches(
                "variables.ciliumEgress",
                "r",
                f"r.?toCIDR.orValue([]).exists(c, {_reaches('optional.of(c)', '')})"
                f" || r.?toCIDRSet.orValue([]).exists(b, {_reaches('b.?cidr', 'b.?except')})",
                '"spec.egress"',
                "no metadata address within a range",
            ),
        ),
        variables=EGRESS_VARIABLES,
        differs="metadata services by name, and policies of other kinds, are seen before that only",
    ),
)
