"""What an agent depends on: the addresses it is told, and the agents it calls."""

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.dependency import address_variable
from holdfast.render.plan.marks import AgentMarks
from holdfast.render.plan.surroundings import Peer, ResolvedDependency, Surroundings


def dependencies_of(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[ResolvedDependency]:
    """Everything in dependsOn, resolved, in the manifest's order."""
    return [surroundings.dependency(each, marks.name, marks.namespace) for each in spec.depends_on]


def dependency_env(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> dict[str, str]:
    """One variable a dependency, `<NAME>_URL`."""
    found = dependencies_of(marks, spec, surroundings)
    return {address_variable(each.name): each.url for each in found}


def called_agents(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> list[Peer]:
    """Agents and tool servers of the stack that an agent calls, once each, in order of place."""
    references = (*spec.network.peers, *(tool.agent.ref for tool in spec.tools if tool.agent))
    peers = {surroundings.peer(reference, marks.namespace) for reference in references}
    needed = dependencies_of(marks, spec, surroundings)
    peers.update(each.peer for each in needed if each.peer)
    peers.update(hosted_servers(marks, spec, surroundings))
    return sorted(peers, key=lambda each: (each.namespace, each.name))


def hosted_servers(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> list[Peer]:
    """Tool servers of the stack whose tools an agent uses, in the manifest's order."""
    named = (tool.mcp.server_ref for tool in spec.tools if tool.mcp)
    found = (surroundings.tool_server(each, marks.namespace) for each in named if each is not None)
    return [each.peer for each in found if each is not None and each.peer is not None]


def needed_first(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> list[Peer]:
    """What must be up before an agent starts: its tools answer before a version is let in."""
    needed = dependencies_of(marks, spec, surroundings)
    return [
        *(each.peer for each in needed if each.peer),
        *hosted_servers(marks, spec, surroundings),
    ]
