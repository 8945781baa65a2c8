"""Who answers at an address: this machine, or its cloud, which no manifest may ask."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

_METADATA: Final = frozenset(
    map(ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"))
)
"""Metadata services at addresses that are not link-local: Alibaba, Azure, Oracle, AWS."""
_PORTS: Final = {"http": 80, "https": 443}


def is_loopback_url(url: str) -> bool:
    """Whether an address names this machine."""
    host = _host_of(url)
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def metadata_address(url: str) -> str:
    """The address of a metadata service or of a link-local neighbour that a URL leads to.

    Empty where it leads elsewhere, or its name cannot be resolved.
    """
    host = _host_of(url)
    try:
        parts = urlsplit(url)
        found = socket.getaddrinfo(host, parts.port or _PORTS.get(parts.scheme, 0))
    except (OSError, ValueError):
        return ""
    for entry in found:
        text = str(entry[4][0])
        address = _address(text)
        if address is not None and (address.is_link_local or address in _METADATA):
            return text
    return ""


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
