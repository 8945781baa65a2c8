"""Every tool server that a fleet speaks to: declared ones, and those named by address alone."""

from dataclasses import dataclass

from holdfast.errors import SourceLocation
from holdfast.manifest.agent.tools import McpTool, Transport
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.tool_checks import key_of_tool, server_key
from holdfast.manifest.kinds.kinds import McpServer
from holdfast.manifest.types.references import parts_of


@dataclass(frozen=True, slots=True)
class DeclaredToolServer:
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


def tool_servers_of(fleet: Fleet) -> tuple[DeclaredToolServer, ...]:
    """Every tool server once, sorted by key."""
    servers: dict[str, tuple[str, Transport, SourceLocation]] = {}
    digests: dict[str, list[tuple[SourceLocation, str]]] = {}
    for server in fleet.of(McpServer):
        key, address = server_key(server), server.spec.address(server.namespace, server.name)
        servers[key] = (address, server.spec.transport, server.location_of("metadata.name"))
        if server.spec.digest is not None:
            digests[key] = [(server.location_of("spec.digest"), server.spec.digest)]
    for agent in fleet.agents:
        for tool, path in parts_of(agent.spec, McpTool):
            key = key_of_tool(tool, agent, fleet)
            if tool.url is not None:
                place = agent.location_of((*path, "url"))
                servers.setdefault(key, (tool.url, tool.transport, place))
            if tool.digest is not None:
                entry = (agent.location_of((*path, "digest")), tool.digest)
                digests.setdefault(key, []).append(entry)
    return tuple(
        DeclaredToolServer(key, *server, tuple(digests.get(key, ())))
        for key, server in sorted(servers.items())
    )
