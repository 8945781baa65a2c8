"""Every tool server that a fleet speaks to: declared ones, and those named by address alone."""

from dataclasses import dataclass

from holdfast.errors import SourceLocation
from holdfast.manifest.agent.tools import Transport
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.tool_checks import server_key


@dataclass(frozen=True, slots=True)
class ToolServer:
    """One tool server.

    Attributes:
        key: What it is called in the lock: `<namespace>/<name>`, or its address.
        url: Its address.
        transport: How it is spoken to.
        location: Where it is declared, or first named.
        digests: Where a digest over its tools is written, and which.
    """

    key: str
    url: str
    transport: Transport
    location: SourceLocation
    digests: tuple[tuple[SourceLocation, str], ...] = ()


def tool_servers_of(fleet: Fleet) -> tuple[ToolServer, ...]:
    """Every tool server once, sorted by key."""
    found: dict[str, ToolServer] = {}
    for server in fleet.mcp_servers:
        key, place = server_key(server), server.location_of("metadata.name")
        address = server.spec.address(server.namespace, server.name)
        found[key] = ToolServer(key, address, server.spec.transport, place)
    digests: dict[str, list[tuple[SourceLocation, str]]] = {}
    for server in fleet.mcp_servers:
        if server.spec.digest is not None:
            entry = (server.location_of("spec.digest"), server.spec.digest)
            digests.setdefault(server_key(server), []).append(entry)
    for agent in fleet.agents:
        for index, tool in enumerate(agent.spec.tools):
            if tool.mcp is None:
                continue
            path = ("spec", "tools", index, "mcp")
            key = tool.mcp.url or ""
            if tool.mcp.server_ref is not None:
                declared = fleet.mcp_server(tool.mcp.server_ref, agent.namespace)
                key = server_key(declared) if declared else ""
            elif key not in found:
                place = agent.location_of((*path, "url"))
                found[key] = ToolServer(key, key, tool.mcp.transport, place)
            if tool.mcp.digest is not None:
                entry = (agent.location_of((*path, "digest")), tool.mcp.digest)
                digests.setdefault(key, []).append(entry)
    return tuple(
        ToolServer(key, each.url, each.transport, each.location, tuple(digests.get(key, ())))
        for key, each in sorted(found.items())
    )
