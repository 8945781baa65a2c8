"""Where a host is, judged by its name alone: it decides how agents are let reach it."""

import ipaddress
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Final

DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class HostKind(Enum):
    """Where a host is, which decides how it is opened."""

    CLUSTER = "cluster"
    """A Service of the cluster: `name`, `name.namespace.svc`, `….svc.cluster.local`."""
    EXTERNAL = "external"
    """A domain outside: needs the stack's egress gateway."""
    ADDRESS = "address"
    """A literal address: needs a cidr in network.egress, or the egress gateway."""
    LOCAL = "local"
    """The pod itself."""


@lru_cache(maxsize=4096)
def host_kind(host: str) -> HostKind:
    """Where a host is, judged by its name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if host == "localhost":
            return HostKind.LOCAL
        name = host.rstrip(".")
        in_cluster = "." not in name or name.endswith((".svc", ".svc.cluster.local"))
        return HostKind.CLUSTER if in_cluster else HostKind.EXTERNAL
    return HostKind.LOCAL if address.is_loopback else HostKind.ADDRESS


def is_outside(host: str, cidrs: Iterable[str]) -> bool:
    """Whether no network policy of Kubernetes can open a host: it knows addresses, no domains.

    Domains are opened by Cilium or by the stack's egress gateway, addresses by the latter alone.

    Args:
        host: Domain, Service name or address.
        cidrs: Address ranges that are open anyway.
    """
    kind = host_kind(host)
    if kind is not HostKind.ADDRESS:
        return kind is HostKind.EXTERNAL
    address = ipaddress.ip_address(host)
    return not any(address in ipaddress.ip_network(cidr) for cidr in cidrs)
