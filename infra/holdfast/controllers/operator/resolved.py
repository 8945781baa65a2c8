"""What an agent refers to, as its status names it: its model, its tools by their digests. Pure."""

from holdfast.manifest.agent.model import as_reference
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet


def model_name(agent: DeclaredAgent, fleet: Fleet) -> str:
    """Name of an agent's model, its own or a shared one's; empty without one."""
    model = agent.spec.model
    if model is None:
        return ""
    if model.ref is None:
        return str(model.name or "")
    shared = fleet.model_config(model.ref, agent.namespace)
    return str(shared.spec.name or "") if shared else ""


def tool_digests(agent: DeclaredAgent, fleet: Fleet) -> dict[str, str]:
    """Server, as the lock names it, to the digest of its reviewed tools; empty where there is none.

    A digest in the manifest wins over that of the tool server, and that over the lock's.
    """
    digests: dict[str, str] = {}
    for tool in agent.spec.tools:
        if tool.mcp is None:
            continue
        name, declared = str(tool.mcp.url), tool.mcp.digest
        if tool.mcp.server_ref is not None:
            server = fleet.mcp_server(tool.mcp.server_ref, agent.namespace)
            name = "/".join(as_reference(tool.mcp.server_ref, agent.namespace))
            declared = declared or (server.spec.digest if server else None)
        locked = fleet.tool_lock.servers.get(name)
        digests[name] = declared or (locked.digest if locked else "")
    return digests
