"""Which probes are wanted, and how things are reached from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True)
class ProbeRequest:
    """Which probes are wanted, and how things are reached from here.

    Attributes:
        is_on: Any at all.
        commands: Also those that run commands.
        contents: Also the Secrets and ConfigMaps that pods mount.
        addresses: Address by agent (name, or namespace and name) or tool server.
        headers: Headers by the host they are for; their values are never shown.
    """

    is_on: bool = False
    commands: bool = False
    contents: bool = False
    addresses: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def headers_for(self, url: str) -> Mapping[str, str]:
        """Headers for one address: those of its host (with its port) and of no other."""
        return self.headers.get(urlsplit(url).netloc, {})
