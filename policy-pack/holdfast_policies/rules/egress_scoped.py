"""Pods may call what they need, not everything."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from holdfast_policies.api import (
    CILIUM_NETWORK_POLICY,
    NETWORK_POLICY,
    SANDBOX_TEMPLATE,
    Admission,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    all_of,
    breaches,
    each,
    field_path,
    in_object,
    items,
    mapping,
    shown,
    text,
    workloads,
)
from holdfast_policies.facts.destinations import (
    OTHER_KINDS,
    POLICY_KINDS,
    covers_most,
    egress_of,
    is_only_dns,
    is_open_domain,
    selects_every_namespace,
    selects_workload,
)
from holdfast_policies.facts.network_policies import (
    EGRESS_VARIABLES,
    covers_everything,
    governed_directions,
    holds,
    whole,
    whole_together,
)

_SCOPED = "named destinations"


def check_destinations(egress: object, path: str) -> Iterator[Finding]:
    """Rules that name no destination, and address ranges that leave none out, also together."""
    ranges: list[str] = []

    def check_peer(peer: object, peer_path: str) -> Iterator[Breach]:
        declared = mapping(peer)
        cidr = text(mapping(declared.get("ipBlock")).get("cidr"))
        ranges.append(cidr)
        if not declared:
            yield Breach(peer_path, got="an empty peer, which is everyone", required=_SCOPED)
        elif covers_everything([cidr]):
            yield Breach(field_path(peer_path, "ipBlock", "cidr"), shown(cidr), _SCOPED)

    def check_rule(rule: object, rule_path: str) -> Iterator[Finding]:
        peers = mapping(rule).get("to")
        if not items(peers):
            got = "no destination, which is every destination"
            yield Breach(field_path(rule_path, "to"), got, _SCOPED)
        yield from each(peers, field_path(rule_path, "to"), check_peer)

    yield from each(egress, path, check_rule)
    together = covers_everything(ranges)
    if together and not any(covers_everything([cidr]) for cidr in ranges):
        yield Breach(path, got=f"ranges that make up {together} together", required=_SCOPED)


def check_policy(subject: Subject, _: Settings) -> Iterator[Finding]:
    """A NetworkPolicy, where it governs egress at all; the policy within a SandboxTemplate."""
    if subject.kind == SANDBOX_TEMPLATE:
        if subject.spec.get("networkPolicyManagement") == "Unmanaged":
            return  # then nobody makes a policy of this section
        egress = mapping(subject.spec.get("networkPolicy")).get("egress")
        yield from check_destinations(egress, "spec.networkPolicy.egress")
    elif subject.kind == NETWORK_POLICY and "Egress" in governed_directions(subject):
        yield from check_destinations(subject.spec.get("egress"), "spec.egress")


def check_cilium(subject: Subject, _: Settings) -> Iterator[Finding]:
    """A CiliumNetworkPolicy: the entities world and all, catch-all ranges, every domain."""

    def check_rule(rule: object, path: str) -> Iterator[Breach]:
        declared = mapping(rule)
        wide = [name for name in items(declared.get("toEntities")) if name in ("all", "world")]
        cidrs = [text(cidr) for cidr in items(declared.get("toCIDR"))]
        cidrs += [text(mapping(block).get("cidr")) for block in items(declared.get("toCIDRSet"))]
        domains = [mapping(name).get("matchPattern") for name in items(declared.get("toFQDNs"))]
        together = covers_everything(cidrs)
        wide += [name for name in (together, *domains) if name in ("*", together) and name]
        if wide:
            yield Breach(path, got=", ".join(str(name) for name in wide), required=_SCOPED)

    if subject.kind == CILIUM_NETWORK_POLICY:
        yield from each(subject.spec.get("egress"), "spec.egress", check_rule)


def check_every_kind(subject: Subject, _: Settings) -> Iterator[Finding]:
    """The same of every kind of policy: open domains, `specs`, namespaces without a name."""
    if subject.kind == NETWORK_POLICY and "Egress" in governed_directions(subject):
        for path, rule in _own_rules(subject):
            yield from _check_selectors(rule, path)
        cidrs = [cidr for egress in egress_of(subject) for cidr in egress.cidrs]
        if not covers_everything(cidrs) and (most := covers_most(cidrs)):
            yield Breach("spec.egress", got=f"ranges that make up {most}", required=_SCOPED)
        return
    if subject.kind not in OTHER_KINDS and subject.kind != CILIUM_NETWORK_POLICY:
        return
    for egress in egress_of(subject):
        is_told = subject.kind == CILIUM_NETWORK_POLICY and egress.path.startswith("spec.")
        if egress.everyone and not (is_told and egress.everyone != "every destination"):
            yield Breach(egress.path, got=egress.everyone, required=_SCOPED)
        elif (most := covers_most(egress.cidrs)) and not is_told:
            yield Breach(egress.path, got=most, required=_SCOPED)
        open_domains = [name for name in egress.domains if is_open_domain(name)]
        if open_domains and not (is_told and "*" in open_domains):
            yield Breach(egress.path, got=shown(open_domains), required="domains of one owner")


def _own_rules(subject: Subject) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, rule in enumerate(items(subject.spec.get("egress"))):
        yield f"spec.egress[{index}]", mapping(rule)


def _check_selectors(rule: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """A peer that takes in every pod of every namespace; name resolution may."""
    if is_only_dns(rule):
        return
    for index, peer in enumerate(items(rule.get("to"))):
        declared = mapping(peer)
        selector = declared.get("namespaceSelector")
        pods = mapping(declared.get("podSelector"))
        if selector is not None and not any(pods.values()) and selects_every_namespace(selector):
            got = "every pod of every namespace"
            yield Breach(f"{path}.to[{index}].namespaceSelector", got, _SCOPED)


def check_sum(workload: Subject, stack: Stack, _: Settings) -> Iterator[Finding]:
    """Ranges of all policies that hold for the same pods, together."""
    pod = workload.pod
    if pod is None:
        return
    labels, namespace = mapping(pod.metadata.get("labels")), workload.namespace
    held = _held_in(stack)
    candidates = (*held.get(namespace, ()), *(held.get("", ()) if namespace else ()))
    if len(candidates) < 2 or not covers_most(_wide(stack, namespace)):  # noqa: PLR2004  # a sum
        return
    ranges = [
        cidr
        for policy in candidates
        if selects_workload(policy, namespace, labels)
        for egress in egress_of(policy)
        for cidr in egress.cidrs
    ]
    if most := covers_most(ranges):
        path = field_path(pod.path, "metadata", "labels")
        yield Breach(path, f"policies that let it call {most} together", _SCOPED)


@lru_cache(maxsize=1)
def _held_in(stack: Stack) -> Mapping[str, tuple[Subject, ...]]:
    """Policies of each namespace, empty for those of all, that are not too wide by themselves."""
    found: dict[str, list[Subject]] = {}
    for kind in POLICY_KINDS:
        for policy in stack.of_kind(kind):
            if not covers_most(cidr for egress in egress_of(policy) for cidr in egress.cidrs):
                found.setdefault(text(policy.metadata.get("namespace")), []).append(policy)
    return {namespace: tuple(policies) for namespace, policies in found.items()}


@lru_cache(maxsize=64)
def _wide(stack: Stack, namespace: str) -> frozenset[str]:
    """Every range that some policy of a namespace allows: most namespaces need no closer look."""
    held = _held_in(stack)
    return frozenset(
        cidr
        for policy in (*held.get(namespace, ()), *held.get("", ()))
        for egress in egress_of(policy)
        for cidr in egress.cidrs
    )


_CIDR = 'p.?ipBlock.?cidr.orValue("")'
_BLOCK_CIDR = 'b.?cidr.orValue("")'
_CILIUM_TOGETHER = whole_together(
    lambda block: (
        f"r.?toCIDR.orValue([]).exists(c, {holds('c', block)})"
        f" || r.?toCIDRSet.orValue([]).exists(b, {holds(_BLOCK_CIDR, block)})"
    )
)


RULE = Rule(
    id="egress-scoped",
    title="Egress to named destinations",
    description="A network policy lets its pods call every destination",
    rationale="An agent that was talked into it sends what it knows to where it was told.",
    remedy="name pods, namespaces or address ranges; for domains use an egress gateway",
    source="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("N", "SC-7", "AC-4", "LLM02", "LLM06", "ASI02", "MCP"),
    fix=Fix.NO,
    kinds=frozenset({NETWORK_POLICY, CILIUM_NETWORK_POLICY, SANDBOX_TEMPLATE}) | OTHER_KINDS,
    check=all_of(check_policy, check_cilium, check_every_kind),
    check_stack=workloads(check_sum),
    admission=Admission(
        (
            breaches(
                "variables.egress",
                "r",
                "r.?to.orValue([]).size() == 0",
                'variables.egressPath + ".to"',
                _SCOPED,
                '"every destination"',
            ),
            breaches(
                "variables.egress",
                "r",
                f"r.?to.orValue([]).exists(p, p.size() == 0 || {whole(_CIDR)})",
                'variables.egressPath + ".to"',
                _SCOPED,
                '"a peer that is everyone"',
            ),
            in_object(
                whole_together(
                    lambda block: (
                        "variables.egress.exists(r, r.?to.orValue([])"
                        f".exists(p, {holds(_CIDR, block)}))"
                    )
                ),
                "egress",
                _SCOPED,
                '"ranges that make up everything together"',
            ),
            breaches(
                "variables.ciliumEgress",
                "r",
                'r.?toEntities.orValue([]).exists(e, e in ["all", "world"])'
                f" || r.?toCIDR.orValue([]).exists(c, {whole('c')})"
                f" || r.?toCIDRSet.orValue([]).exists(b, {whole(_BLOCK_CIDR)})"
                ' || r.?toFQDNs.orValue([]).exists(n, n.?matchPattern.orValue("") == "*")'
                f" || {_CILIUM_TOGETHER}",
                '"spec.egress"',
                _SCOPED,
            ),
        ),
        variables=EGRESS_VARIABLES,
        differs=(
            "address ranges that only together make up everything are seen there down to a"
            " sixteenth of it; policies of other kinds, all policies of a pod in sum, selectors of"
            " every namespace, and domains that anybody may have are seen before that only"
        ),
    ),
)
