"""The fleet as a graph: who calls, uses and waits for whom."""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Path
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.agent.dependency import Dependency, as_dependency
from holdfast.manifest.agent.exposure import GATEWAY, Caller, Namespace
from holdfast.manifest.agent.model import as_reference
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, McpServer, ModelConfig
from holdfast.manifest.types.ordering import waves
from holdfast.manifest.types.references import Reaches, RefersTo, Relation, marked

SERVICE_KIND = "Service"
GATEWAY_KIND = "Gateway"
NAMESPACE_KIND = "Namespace"
ADDRESS_KIND = "Address"


@dataclass(frozen=True, order=True, slots=True)
class Node:
    """An agent, or what agents refer to.

    Attributes:
        kind: Agent, MCPServer, ModelConfig or Service; Address for a tool server that is named by
            its address alone; Gateway and Namespace for callers that are no agents.
        namespace: Empty for an address and the gateway.
    """

    kind: str
    namespace: str
    name: str

    @property
    def label(self) -> str:
        """`namespace/name`, or the name alone."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, order=True, slots=True)
class Edge:
    """One reference, from who makes it to what it leads to.

    Attributes:
        path: Field of the source's manifest that makes it.
        location: Where that field stands.
    """

    source: Node
    target: Node
    relation: Relation
    path: Path
    location: SourceLocation


def node_of(agent: DeclaredAgent) -> Node:
    """An agent, or a tool server that the stack runs, in the graph."""
    return Node(agent.kind, agent.namespace, agent.name)


def edges_of(fleet: Fleet) -> tuple[Edge, ...]:
    """Every reference of all that runs, in the fleet's order, fields in the manifest's order."""
    return tuple(edge for agent in fleet.workloads for edge in edges_of_agent(agent, fleet))


def dependency_of(reference: str | Dependency, agent: DeclaredAgent, fleet: Fleet) -> Node | None:
    """What a dependency leads to; None when it leads nowhere, or a bare name to several."""
    found = candidates_of(reference, agent, fleet)
    return found[0] if len(found) == 1 else None


def candidates_of(
    reference: str | Dependency, agent: DeclaredAgent, fleet: Fleet
) -> tuple[Node, ...]:
    """Everything that a dependency may mean."""
    dependency = as_dependency(reference)
    namespace, name = dependency.namespace or agent.namespace, dependency.name
    if dependency.kind == SERVICE_KIND:
        return (Node(SERVICE_KIND, namespace, name),)
    declared = {
        AGENT_KIND: fleet.agent(name, namespace),
        MCP_SERVER_KIND: fleet.find(McpServer, name, namespace),
        ModelConfig.KIND: fleet.find(ModelConfig, name, namespace),
    }
    return tuple(
        Node(kind, namespace, name)
        for kind, found in declared.items()
        if found is not None and dependency.kind in {None, kind}
    )


def start_needs(fleet: Fleet) -> dict[Node, tuple[Node, ...]]:
    """Agent to the agents and tool servers of the stack that must be up before it starts."""
    started = {node_of(each) for each in fleet.workloads}
    needs: dict[Node, tuple[Node, ...]] = {}
    for agent in fleet.workloads:
        found = (
            edge.target
            for edge in edges_of_agent(agent, fleet)
            if edge.relation in {"dependsOn", "tools"} and edge.target in started
        )
        needs[node_of(agent)] = tuple(dict.fromkeys(found))
    return needs


def start_waves(fleet: Fleet) -> list[list[Node]]:
    """Agents in the order in which they start: each wave needs only earlier ones."""
    return waves(start_needs(fleet))


def edges_of_agent(agent: DeclaredAgent, fleet: Fleet) -> Iterator[Edge]:
    """Every reference of one agent, and who else it lets in, in the manifest's order."""
    here = node_of(agent)
    for each in marked(agent.spec, RefersTo):
        relation, place = each.mark.relation, agent.location_of(each.path)
        if relation == "lets in":
            if caller := _other_caller(each.value):
                yield Edge(caller, here, relation, each.path, place)
            continue
        if relation == "dependsOn":
            target = dependency_of(each.value, agent, fleet)
        else:
            target = Node(each.mark.kind, *as_reference(each.value, agent.namespace))
        if target is not None:
            is_fallback = "fallbacks" in each.path
            yield Edge(here, target, "fallback" if is_fallback else relation, each.path, place)
    for address in marked(agent.spec, Reaches):
        if address.mark.relation:
            target = Node(ADDRESS_KIND, "", address.value)
            place = agent.location_of(address.path)
            yield Edge(here, target, address.mark.relation, address.path, place)


def _other_caller(caller: Caller) -> Node | None:
    """A caller that is no agent; an agent's call is an edge of the agent's own."""
    if caller == GATEWAY:
        return Node(GATEWAY_KIND, "", GATEWAY)
    return Node(NAMESPACE_KIND, "", caller.namespace) if isinstance(caller, Namespace) else None
