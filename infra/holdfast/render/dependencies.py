"""What an agent depends on: the addresses it is told, and the agents it calls."""

from holdfast.manifest.agent import AgentSpec
from holdfast.manifest.dependency import address_variable
from holdfast.render.marks import AgentMarks
from holdfast.render.surroundings import Peer, ResolvedDependency, Surroundings


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
    """Agents that an agent calls: peers, tools and dependencies, once each, in order of place."""
    references = (*spec.network.peers, *(tool.agent.ref for tool in spec.tools if tool.agent))
    peers = {surroundings.peer(reference, marks.namespace) for reference in references}
    needed = dependencies_of(marks, spec, surroundings)
    peers.update(each.peer for each in needed if each.peer)
    return sorted(peers, key=lambda each: (each.namespace, each.name))
