"""Tools that agents name, against what their server declares and what was reviewed of it."""

from collections.abc import Collection, Iterator

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent.tools import McpTool
from holdfast.manifest.fleet.fleet import Declaration, DeclaredAgent, DeclaredMcpServer, Fleet
from holdfast.manifest.fleet.tool_contracts import ServerContract
from holdfast.manifest.fleet.tool_lock import LOCK_FILE
from holdfast.manifest.kinds.kinds import McpServer
from holdfast.manifest.types.references import parts_of
from holdfast.manifest.types.validation import suggestion


def faults_of_tools(agent: DeclaredAgent, fleet: Fleet) -> Iterator[ManifestError]:
    """Tools that the declared server does not offer."""
    for tool, path in parts_of(agent.spec, McpTool):
        server = (
            fleet.find(McpServer, tool.server_ref, agent.namespace) if tool.server_ref else None
        )
        if server is None or not server.spec.tool_names:
            continue
        place = server.location_of("spec.toolNames")
        expected = f"expected a tool of MCPServer {server.name!r} ({place})"
        known = server.spec.tool_names
        yield from _unknown_names(agent, (*path, "toolNames"), tool.tool_names, known, expected)


def faults_of_lock(fleet: Fleet) -> Iterator[ManifestError]:
    """Names and digests in manifests that are not those of the reviewed tools."""
    for server in fleet.of(McpServer):
        if locked := fleet.tool_lock.servers.get(server_key(server)):
            yield from _against_lock(
                server, ("spec",), server.spec.tool_names, server.spec.digest, locked
            )
    for agent in fleet.agents:
        for tool, path in parts_of(agent.spec, McpTool):
            if locked := fleet.tool_lock.servers.get(key_of_tool(tool, agent, fleet)):
                yield from _against_lock(agent, path, tool.tool_names, tool.digest, locked)


def server_key(server: DeclaredMcpServer) -> str:
    """What a declared server is called in the lock."""
    return f"{server.namespace}/{server.name}"


def key_of_tool(tool: McpTool, agent: DeclaredAgent, fleet: Fleet) -> str:
    """What the server of an agent's tools is called in the lock; empty when it is not declared."""
    if tool.server_ref is None:
        return tool.url or ""
    server = fleet.find(McpServer, tool.server_ref, agent.namespace)
    return server_key(server) if server else ""


def _against_lock(
    declaration: Declaration,
    path: Path,
    names: Collection[str],
    digest: str | None,
    locked: ServerContract,
) -> Iterator[ManifestError]:
    known = [tool.name for tool in locked.tools]
    expected = f"expected a tool that was reviewed ({LOCK_FILE})"
    yield from _unknown_names(declaration, (*path, "toolNames"), names, known, expected)
    if digest is not None and digest != locked.digest:
        here = (*path, "digest")
        yield ManifestError(
            declaration.location_of(here),
            format_path(here),
            expected=f"expected the digest of the reviewed tools ({LOCK_FILE}), {locked.digest}",
            found=digest,
            remedy="review the tools and write their digest",
        )


def _unknown_names(
    declaration: Declaration,
    path: Path,
    names: Collection[str],
    known: Collection[str],
    expected: str,
) -> Iterator[ManifestError]:
    for position, name in enumerate(names):
        if name not in known:
            here = (*path, position)
            yield ManifestError(
                declaration.location_of(here),
                format_path(here),
                expected=expected,
                found=repr(name),
                remedy=suggestion(name, known),
            )
