"""The graph of a fleet as data: what is drawn, and what is said about teams and start-up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import InputError
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.agent.model import Reference, as_reference
from holdfast.manifest.fleet.fleet import DeclaredAgentTeam, Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.topology import Edge, Node, edges_of, node_of, start_waves
from holdfast.manifest.kinds.kinds import AgentTeam
from holdfast.manifest.types.validation import suggestion


@dataclass(frozen=True, slots=True)
class TeamReach:
    """A team, and all that calls of its entry points may lead to.

    Attributes:
        team: The team.
        members: Its agents, in the manifest's order.
        entry_points: Members that others call; all members where none is named.
        agents: Agents that a call may reach, through agents as tools and by egress; members or not.
        tools: Tool servers and endpoints that those agents use.
        unreached: Members that no call to an entry point leads to.
    """

    team: DeclaredAgentTeam
    members: tuple[Node, ...]
    entry_points: tuple[Node, ...]
    agents: tuple[Node, ...]
    tools: tuple[Node, ...]
    unreached: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """What is drawn.

    Attributes:
        title: Name of the team; empty for a whole fleet, or for agents of no team.
        nodes: Sorted.
        edges: Sorted; several references between two nodes are several edges.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(fleet: Fleet) -> Graph:
    """The whole fleet."""
    agents = [node_of(agent) for agent in fleet.workloads]
    return _graph("", agents, edges_of(fleet))


def graph_of_team(graph: Graph, reach: TeamReach) -> Graph:
    """The part of a fleet's graph that has to do with one team's members."""
    return _part(graph, reach.team.name, set(reach.members))


def graphs_by_team(graph: Graph, teams: Iterable[TeamReach]) -> list[Graph]:
    """One graph a team, and one of the agents of no team where there are any."""
    listed = list(teams)
    parts = [graph_of_team(graph, team) for team in listed]
    members = {node for team in listed for node in team.members}
    others = {node for node in graph.nodes if node.kind == AGENT_KIND} - members
    return [*parts, *([_part(graph, "", others)] if others else [])]


def team_reaches(fleet: Fleet) -> list[TeamReach]:
    """Every team with what its entry points reach, sorted by namespace and name."""
    edges = edges_of(fleet)
    return [_reach(team, edges) for team in fleet.of(AgentTeam)]


def waves_of(fleet: Fleet) -> list[list[Node]]:
    """Agents in the order in which they start."""
    return start_waves(fleet)


def _reach(team: DeclaredAgentTeam, edges: Iterable[Edge]) -> TeamReach:
    def nodes(references: Iterable[Reference]) -> tuple[Node, ...]:
        places = (as_reference(each, team.namespace) for each in references)
        return tuple(Node(AGENT_KIND, *place) for place in places)

    members = nodes(team.spec.members)
    entry_points = nodes(team.spec.entry_points) or members
    calls: dict[Node, list[Node]] = {}
    tools: dict[Node, list[Node]] = {}
    for edge in edges:
        if edge.relation in {"calls", "egress"}:
            calls.setdefault(edge.source, []).append(edge.target)
        elif edge.relation == "tools":
            tools.setdefault(edge.source, []).append(edge.target)
    reached: dict[Node, None] = {}
    waiting = list(entry_points)
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached[node] = None
            waiting += calls.get(node, ())
    return TeamReach(
        team,
        members,
        entry_points,
        agents=tuple(sorted(reached)),
        tools=tuple(sorted({tool for node in reached for tool in tools.get(node, ())})),
        unreached=tuple(node for node in members if node not in reached),
    )


def _graph(title: str, agents: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    listed = tuple(sorted(edges))
    nodes = {*agents, *(edge.source for edge in listed), *(edge.target for edge in listed)}
    return Graph(title, tuple(sorted(nodes)), listed)


def _part(graph: Graph, title: str, agents: set[Node]) -> Graph:
    edges = [edge for edge in graph.edges if edge.source in agents or edge.target in agents]
    return _graph(title, agents, edges)


@dataclass(frozen=True)
class FleetGraph:
    """Who calls, uses and waits for whom in a fleet, or in one team of it.

    Attributes:
        waves: Agents in the order in which they start.
        reaches: What a call to each team may lead to.
    """

    graph: Graph
    waves: Sequence[Sequence[Node]]
    reaches: Sequence[TeamReach]


def fleet_graph(root: Path, stack: str = "", team: str | None = None) -> FleetGraph:
    """The graph of what a project declares.

    Args:
        root: Folder of Pulumi.yaml.
        stack: Whose overrides hold; empty for none.
        team: Only what concerns the members of this AgentTeam.

    Raises:
        InputError: there is no such stack or team.
        InvalidFilesError: the manifests are not valid.
    """
    fleet = load_fleet(root, stack or None)
    graph, reaches = graph_of(fleet), team_reaches(fleet)
    if team is not None:
        known = {each.team.name: each for each in reaches}
        if team not in known:
            raise InputError(f"no AgentTeam {team!r}", remedy=suggestion(team, known))
        graph, reaches = graph_of_team(graph, known[team]), [known[team]]
    return FleetGraph(graph, waves_of(fleet), reaches)
