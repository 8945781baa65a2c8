"""The fleet as a graph: who calls, uses and waits for whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Path
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.agent.dependency import Dependency, as_dependency
from holdfast.manifest.agent.exposure import GATEWAY, Namespace
from holdfast.manifest.agent.model import as_reference
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.references import models_of
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, MODEL_CONFIG_KIND
from holdfast.manifest.types.ordering import waves

SERVICE_KIND = "Service"
GATEWAY_KIND = "Gateway"
NAMESPACE_KIND = "Namespace"
ADDRESS_KIND = "Address"

Relation = Literal["calls", "model", "fallback", "tools", "peer", "dependsOn", "lets in"]
"""`calls`: an agent as a tool; `tools`: a tool server; `lets in`: from caller to callee."""


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
        MCP_SERVER_KIND: fleet.mcp_server(name, namespace),
        MODEL_CONFIG_KIND: fleet.model_config(name, namespace),
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

    def edge(kind: str, place: tuple[str, str], relation: Relation, path: Path) -> Edge:
        return Edge(here, Node(kind, *place), relation, path, agent.location_of(path))

    for model in models_of(agent):
        place = as_reference(model.reference, agent.namespace)
        relation: Relation = "model" if model.path == ("spec", "model", "ref") else "fallback"
        yield edge(MODEL_CONFIG_KIND, place, relation, model.path)
    for index, tool in enumerate(agent.spec.tools):
        path: Path = ("spec", "tools", index)
        if tool.agent is not None:
            place = as_reference(tool.agent.ref, agent.namespace)
            yield edge(AGENT_KIND, place, "calls", (*path, "agent", "ref"))
        elif tool.mcp is not None and tool.mcp.server_ref is not None:
            place = as_reference(tool.mcp.server_ref, agent.namespace)
            yield edge(MCP_SERVER_KIND, place, "tools", (*path, "mcp", "serverRef"))
        elif tool.mcp is not None and tool.mcp.url is not None:
            yield edge(ADDRESS_KIND, ("", tool.mcp.url), "tools", (*path, "mcp", "url"))
        elif tool.http is not None:
            yield edge(ADDRESS_KIND, ("", tool.http.url), "tools", (*path, "http", "url"))
    for index, peer in enumerate(agent.spec.network.peers):
        path = ("spec", "network", "peers", index)
        yield edge(AGENT_KIND, as_reference(peer, agent.namespace), "peer", path)
    for index, reference in enumerate(agent.spec.depends_on):
        target = dependency_of(reference, agent, fleet)
        if target is not None:
            path = ("spec", "dependsOn", index)
            yield Edge(here, target, "dependsOn", path, agent.location_of(path))
    for index, caller in enumerate(agent.spec.network.ingress_from):
        path = ("spec", "network", "ingressFrom", index)
        if caller == GATEWAY:
            gateway = Node(GATEWAY_KIND, "", GATEWAY)
            yield Edge(gateway, here, "lets in", path, agent.location_of(path))
        elif isinstance(caller, Namespace):
            namespace = Node(NAMESPACE_KIND, "", caller.namespace)
            yield Edge(namespace, here, "lets in", path, agent.location_of(path))
