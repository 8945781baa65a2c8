"""What an agent depends on: the addresses it gets, and the agents it calls."""

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.dependency import address_variable
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.render_context import Peer, RenderContext, ResolvedDependency


def dependencies_of(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[ResolvedDependency]:
    """Everything in dependsOn, resolved, in the manifest's order."""
    return [context.dependency(each, meta.name, meta.namespace) for each in spec.depends_on]


def dependency_env(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, str]:
    """One variable a dependency, `<NAME>_URL`."""
    found = dependencies_of(meta, spec, context)
    return {address_variable(each.name): each.url for each in found}


def called_agents(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[Peer]:
    """Agents and tool servers of the stack that an agent calls, once each, in order of place."""
    listed = (each.agent for each in spec.network.egress if each.agent and not each.ports)
    references = (*listed, *(tool.agent.ref for tool in spec.tools if tool.agent))
    peers = {context.peer(reference, meta.namespace) for reference in references}
    needed = dependencies_of(meta, spec, context)
    peers.update(each.peer for each in needed if each.peer)
    peers.update(hosted_servers(meta, spec, context))
    return sorted(peers, key=lambda each: (each.namespace, each.name))


def hosted_servers(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[Peer]:
    """Tool servers of the stack whose tools an agent uses, in the manifest's order."""
    named = (
        *(tool.mcp.server_ref for tool in spec.tools if tool.mcp),
        *(each.tool for each in spec.network.egress),
    )
    found = (context.tool_server(each, meta.namespace) for each in named if each is not None)
    return [each.peer for each in found if each is not None and each.peer is not None]


def needed_first(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[Peer]:
    """What must be up before an agent starts: its tools answer before a version is let in."""
    needed = dependencies_of(meta, spec, context)
    return [
        *(each.peer for each in needed if each.peer),
        *hosted_servers(meta, spec, context),
    ]
