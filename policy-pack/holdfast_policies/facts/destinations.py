"""Where network policies of every kind let pods go, in one form.

Kubernetes' own kinds, those of the network policy group, Cilium, Calico, Antrea, OVN and meshes
write the same thing in seven ways; rules about egress read it here.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast_policies.facts.network_policies import network
from holdfast_policies.facts.selectors import selects
from holdfast_policies.model.kinds import CILIUM_NETWORK_POLICY, NETWORK_POLICY, Kind
from holdfast_policies.model.subject import Subject, items, mapping, text

CLUSTER_WIDE_CILIUM: Final = Kind("cilium.io", "CiliumClusterwideNetworkPolicy")
_ADMIN: Final = frozenset(
    Kind("policy.networking.k8s.io", name)
    for name in ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy")
)
_CALICO: Final = frozenset(
    Kind(group, name)
    for group in ("projectcalico.org", "crd.projectcalico.org")
    for name in ("NetworkPolicy", "GlobalNetworkPolicy", "StagedNetworkPolicy")
)
_ANTREA: Final = frozenset(
    Kind("crd.antrea.io", name) for name in ("NetworkPolicy", "ClusterNetworkPolicy")
)
_FIREWALLS: Final = frozenset(
    {Kind("k8s.ovn.org", "EgressFirewall"), Kind("network.openshift.io", "EgressNetworkPolicy")}
)
_SERVICE_ENTRY: Final = Kind("networking.istio.io", "ServiceEntry")
_SIDECAR: Final = Kind("networking.istio.io", "Sidecar")
_GKE: Final = Kind("networking.gke.io", "FQDNNetworkPolicy")
_CILIUM: Final = frozenset({CILIUM_NETWORK_POLICY, CLUSTER_WIDE_CILIUM})
OTHER_KINDS: Final = (
    _ADMIN | _CALICO | _ANTREA | _FIREWALLS | {_SERVICE_ENTRY, _SIDECAR, _GKE, CLUSTER_WIDE_CILIUM}
)
"""Kinds beside those that the rules have always known."""
POLICY_KINDS: Final = OTHER_KINDS | {NETWORK_POLICY, CILIUM_NETWORK_POLICY}

_RESERVED: Final = (
    "example",
    "test",
    "local",
    "internal",
    "localhost",
    "invalid",
    "svc",
    "cluster",
)
# fmt: off
_SHARED_SUFFIXES: Final = frozenset({
    "co.uk", "com.br", "com.au", "co.jp",
    "co.in", "com.cn", "com.mx", "co.za",
    "github.io", "githubusercontent.com", "amazonaws.com", "s3.amazonaws.com",
    "cloudfront.net", "azurewebsites.net", "windows.net", "blob.core.windows.net",
    "herokuapp.com", "workers.dev", "pages.dev", "vercel.app",
    "netlify.app", "ngrok.io", "ngrok-free.app", "ngrok.app",
    "trycloudflare.com", "web.app", "firebaseapp.com", "run.app",
    "appspot.com", "googleusercontent.com", "storage.googleapis.com", "fly.dev",
    "onrender.com", "railway.app", "repl.co", "glitch.me",
    "r2.dev", "digitaloceanspaces.com", "azureedge.net", "cloudapp.net",
    "elasticbeanstalk.com", "lambda-url.on.aws", "surge.sh", "deno.dev",
    "webhook.site", "requestbin.net", "pipedream.net", "oast.fun",
})
# fmt: on
"""Domains below which anybody may have a name."""
_ROUTABLE_V6: Final = ipaddress.ip_network("2000::/3")


@dataclass(frozen=True, slots=True)
class Egress:
    """What one rule of a policy lets pods call.

    Attributes:
        path: Field path of the rule.
        cidrs: Address ranges, as written.
        excepted: Ranges that are left out of them.
        domains: Names, with wildcards.
        everyone: In words, when it leaves no destination out; else empty.
    """

    path: str
    cidrs: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    everyone: str = ""


def egress_of(policy: Subject) -> Iterator[Egress]:  # noqa: PLR0912  # one case a kind
    """What a policy lets its pods call, rule by rule."""
    spec = policy.spec
    if policy.kind == NETWORK_POLICY:
        for path, rule in _rules(spec, "egress"):
            yield _of_peers(path, items(rule.get("to")))
    elif policy.kind in _CILIUM:
        holders = [("spec", spec)]
        holders += [
            (f"specs[{index}]", mapping(one))
            for index, one in enumerate(items(policy.object.get("specs")))
        ]
        for place, held in holders:
            for path, rule in _rules(held, "egress", place):
                yield _of_cilium(path, rule)
    elif policy.kind in _ADMIN:
        for path, rule in _rules(spec, "egress"):
            if text(rule.get("action")) in ("Allow", "Accept", "Pass"):
                yield _of_admin(path, rule)
    elif policy.kind in _CALICO:
        for path, rule in _rules(spec, "egress"):
            if text(rule.get("action")) in ("Allow", "Pass"):
                yield _of_calico(path, rule)
    elif policy.kind in _ANTREA:
        for path, rule in _rules(spec, "egress"):
            if text(rule.get("action")) in ("Allow", "Pass", ""):
                yield _of_peers(path, items(rule.get("to")), needs_peers="toServices" not in rule)
    elif policy.kind in _FIREWALLS:
        for path, rule in _rules(spec, "egress"):
            if rule.get("type") == "Allow":
                to = mapping(rule.get("to"))
                yield Egress(
                    path, _texts([to.get("cidrSelector")]), (), _texts([to.get("dnsName")])
                )
    elif policy.kind == _GKE:
        for path, rule in _rules(spec, "egress"):
            matches = [mapping(one) for one in items(rule.get("matches"))]
            names = [one.get("name") or one.get("pattern") for one in matches]
            yield Egress(path, domains=_texts(names))
    elif policy.kind == _SERVICE_ENTRY:
        yield Egress(
            "spec.hosts", _texts(items(spec.get("addresses"))), (), _texts(items(spec.get("hosts")))
        )
    elif policy.kind == _SIDECAR:
        mode = text(mapping(spec.get("outboundTrafficPolicy")).get("mode"))
        if mode == "ALLOW_ANY":
            yield Egress("spec.outboundTrafficPolicy.mode", everyone="any address outside the mesh")


def selects_workload(policy: Subject, namespace: str, labels: Mapping[str, Any]) -> bool:
    """Whether a policy may hold for pods; where its selector is in words of its own, it does."""
    is_local = bool(text(policy.metadata.get("namespace")))
    if is_local and policy.namespace != namespace:
        return False
    spec = policy.spec
    if policy.kind == NETWORK_POLICY:
        return policy.namespace == namespace and selects(spec.get("podSelector"), labels)
    if policy.kind in _CILIUM and not items(policy.object.get("specs")):
        return selects(spec.get("endpointSelector"), labels, prefixes=("k8s:", "any:"))
    return True


def covers_most(cidrs: Iterable[str]) -> str:
    """In words, when ranges hold more than half of all addresses together; else empty."""
    found = [one for cidr in set(cidrs) if (one := network(cidr)) is not None]
    fourth = [one for one in found if isinstance(one, ipaddress.IPv4Network)]
    sixth = [one for one in found if isinstance(one, ipaddress.IPv6Network)]
    if _addresses(fourth) > 2**31 and _addresses(ipaddress.collapse_addresses(fourth)) > 2**31:
        return "most of all IPv4 addresses"
    if _addresses(sixth) <= _ROUTABLE_V6.num_addresses // 2:
        return ""  # as nearly always, and merging takes longer than all else
    total = 0
    for one in ipaddress.collapse_addresses(sixth):
        if one.supernet_of(_ROUTABLE_V6):  # type: ignore[arg-type]  # both of version 6
            return "every IPv6 address that is routed"
        total += one.num_addresses if one.subnet_of(_ROUTABLE_V6) else 0  # type: ignore[arg-type]  # as above
    return "most of all IPv6 addresses" if total > _ROUTABLE_V6.num_addresses // 2 else ""


def _addresses(networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> int:
    """How many addresses ranges hold; those that overlap count twice."""
    return sum(1 << (one.max_prefixlen - one.prefixlen) for one in networks)


def is_open_domain(pattern: str) -> bool:
    """Whether a pattern stands for names that anybody may have: `*`, `*.com`, `*.github.io`."""
    name = pattern.lower().strip(".")
    if "*" not in name:
        return False
    rest = re.sub(r"^[*.]+", "", name)
    if "*" in rest or not name.startswith("*"):
        rest = name.rpartition("*")[2].lstrip(".")
        if not name.rpartition("*")[2].startswith("."):
            rest = rest.partition(".")[2]
    labels = [label for label in rest.split(".") if label]
    if labels and labels[-1] in _RESERVED:
        return False
    return len(labels) < 2 or rest in _SHARED_SUFFIXES  # noqa: PLR2004  # a domain and its suffix


def selects_every_namespace(selector: object) -> bool:
    """Whether a selector leaves no namespace out: it is empty, or only says what is not wanted."""
    if not isinstance(selector, dict):
        return False
    if mapping(selector.get("matchLabels")):
        return False
    return all(
        mapping(one).get("operator") in ("NotIn", "DoesNotExist")
        or (
            mapping(one).get("operator") == "Exists"
            and text(mapping(one).get("key")) in ("kubernetes.io/metadata.name", "name")
        )
        for one in items(selector.get("matchExpressions"))
    )


def is_only_dns(rule: Mapping[str, Any]) -> bool:
    """Whether a rule is for name resolution, which any pod may need of any other."""
    ports = [mapping(port) for port in items(rule.get("ports"))]
    return bool(ports) and all(
        port.get("port") in (53, "53", "dns", "dns-tcp") and not port.get("endPort")
        for port in ports
    )


def _rules(
    holder: Mapping[str, Any], name: str, place: str = "spec"
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, rule in enumerate(items(holder.get(name))):
        yield f"{place}.{name}[{index}]", mapping(rule)


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str) and value)


def _of_peers(path: str, peers: list[Any], *, needs_peers: bool = True) -> Egress:
    blocks = [mapping(mapping(peer).get("ipBlock")) for peer in peers]
    everyone = "" if peers or not needs_peers else "every destination"
    if any(not mapping(peer) for peer in peers):
        everyone = "a peer that is everyone"
    return Egress(
        path,
        _texts(block.get("cidr") for block in blocks),
        _texts(cidr for block in blocks for cidr in items(block.get("except"))),
        _texts(mapping(peer).get("fqdn") for peer in peers),
        everyone,
    )


def _of_cilium(path: str, rule: Mapping[str, Any]) -> Egress:
    blocks = [mapping(block) for block in items(rule.get("toCIDRSet"))]
    names = [mapping(name) for name in items(rule.get("toFQDNs"))]
    wide = [
        name
        for name in items(rule.get("toEntities"))
        if name in ("all", "world", "world-ipv4", "world-ipv6")
    ]
    targets = [key for key in rule if key.startswith("to") and key != "toPorts"]
    everyone = ", ".join(map(str, wide)) or ("" if targets else "every destination")
    return Egress(
        path,
        _texts([*items(rule.get("toCIDR")), *(block.get("cidr") for block in blocks)]),
        _texts(cidr for block in blocks for cidr in items(block.get("except"))),
        _texts(name.get("matchPattern") or name.get("matchName") for name in names),
        everyone,
    )


def _of_admin(path: str, rule: Mapping[str, Any]) -> Egress:
    peers = [mapping(peer) for peer in items(rule.get("to"))]
    return Egress(
        path,
        _texts(cidr for peer in peers for cidr in items(peer.get("networks"))),
        (),
        _texts(name for peer in peers for name in items(peer.get("domainNames"))),
        "every destination" if not peers or any(not peer for peer in peers) else "",
    )


def _of_calico(path: str, rule: Mapping[str, Any]) -> Egress:
    to = mapping(rule.get("destination"))
    named = {key for key, value in to.items() if value and not key.startswith(("not", "ports"))}
    is_all = bool({"selector", "namespaceSelector"} & named) and all(
        text(to.get(key)) in ("all()", "global()", "") for key in named
    )
    return Egress(
        path,
        _texts(items(to.get("nets"))),
        _texts(items(to.get("notNets"))),
        _texts(items(to.get("domains"))),
        "" if named and not (is_all and "global()" in to.values()) else "every destination",
    )
