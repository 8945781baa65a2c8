"""The graph of a fleet as Mermaid, Graphviz and JSON."""

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from holdfast.manifest.fleet.topology import Node
from holdfast.operations.describe.topology import FleetGraph, Graph, TeamReach, graphs_by_team
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.topology import TopologyPart

SCHEMA_VERSION: Final = "holdfast.dev/graph/v1"
MERMAID_MAX_CHARACTERS: Final = 50_000
MERMAID_MAX_EDGES: Final = 500
"""Limits at which Mermaid's own defaults (maxTextSize, maxEdges) refuse to draw."""

_MERMAID_SHAPES: Final = {
    "Agent": ("[", "]"),
    "MCPServer": ("[[", "]]"),
    "ModelConfig": ("([", "])"),
    "Service": ("[(", ")]"),
    "Address": (">", "]"),
    "Gateway": ("{{", "}}"),
    "Namespace": ("{{", "}}"),
}
_DOT_SHAPES: Final = {
    "Agent": "box",
    "MCPServer": "component",
    "ModelConfig": "ellipse",
    "Service": "cylinder",
    "Address": "note",
    "Gateway": "hexagon",
    "Namespace": "hexagon",
}


GRAPHS: Final = ("mermaid", "dot", "graph")
"""Forms in which a graph is written; `graph` is JSON."""


def graph_text(fleet: FleetGraph, form: str) -> tuple[str, list[str]]:
    """The graph in one of `GRAPHS`, and notes on what does not fit the form."""
    if form == "graph":
        return graph_json(fleet.graph, fleet.waves, fleet.reaches), []
    if form == "dot":
        return dot(fleet.graph), []
    if not is_too_large_for_mermaid(fleet.graph):
        return mermaid(fleet.graph), []
    parts = graphs_by_team(fleet.graph, fleet.reaches)
    notes = [f"too large for one flowchart: {len(parts)} of them, by team"]
    for part in parts:
        if is_too_large_for_mermaid(part):
            name = part.title or "of agents in no team"
            notes.append(f"the one {name} is still too large: use -o dot")
    return mermaid_by_team(parts), notes


def mermaid(graph: Graph) -> str:
    """A flowchart; agents stand in boxes by namespace."""
    ids = {node: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for number, (namespace, nodes) in enumerate(_by_namespace(graph.nodes)):
        indent = "  "
        if namespace:
            lines.append(f"  subgraph s{number}[{_quoted(namespace)}]")
            indent = "    "
        lines += [f"{indent}{ids[node]}{_mermaid_shape(node)}" for node in nodes]
        if namespace:
            lines.append("  end")
    for edge in graph.edges:
        arrow = "-.->" if edge.relation in {"dependsOn", "fallback"} else "-->"
        lines.append(f"  {ids[edge.source]} {arrow}|{edge.relation}| {ids[edge.target]}")
    return "\n".join(lines) + "\n"


def is_too_large_for_mermaid(graph: Graph) -> bool:
    """Whether Mermaid, as it is set up by default, would refuse to draw the graph."""
    return len(graph.edges) > MERMAID_MAX_EDGES or len(mermaid(graph)) > MERMAID_MAX_CHARACTERS


def mermaid_by_team(graphs: Sequence[Graph]) -> str:
    """Several flowcharts in one Markdown text, a heading each."""
    return "\n".join(
        f"## {graph.title or 'no team'}\n\n```mermaid\n{mermaid(graph)}```\n" for graph in graphs
    )


def dot(graph: Graph) -> str:
    """A Graphviz digraph; agents stand in clusters by namespace."""
    ids = {node: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["digraph fleet {", "  rankdir=LR;"]
    for number, (namespace, nodes) in enumerate(_by_namespace(graph.nodes)):
        indent = "  "
        if namespace:
            lines.append(f"  subgraph cluster_{number} {{ label={_quoted(namespace)};")
            indent = "    "
        for node in nodes:
            shape = _DOT_SHAPES[node.kind]
            lines.append(f"{indent}{ids[node]} [label={_quoted(node.name)} shape={shape}];")
        if namespace:
            lines.append("  }")
    for edge in graph.edges:
        style = " style=dashed" if edge.relation in {"dependsOn", "fallback"} else ""
        label = _quoted(edge.relation)
        lines.append(f"  {ids[edge.source]} -> {ids[edge.target]} [label={label}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def graph_json(graph: Graph, waves: Sequence[Sequence[Node]], teams: Sequence[TeamReach]) -> str:
    """Nodes, edges with the fields that make them, start-up waves, and what teams reach."""
    document = {
        "schemaVersion": SCHEMA_VERSION,
        **msgspec.to_builtins(TopologyPart.of(graph)),
        "waves": [[node.label for node in wave] for wave in waves],
        "teams": [_team(team) for team in teams],
    }
    return json_text(document)


def _team(reach: TeamReach) -> dict[str, Any]:
    spec = reach.team.spec
    return {
        "name": reach.team.name,
        "namespace": reach.team.namespace,
        "owner": spec.owner,
        "description": spec.description,
        "tags": spec.tags,
        "namespaces": spec.namespaces,
        "members": [node.label for node in reach.members],
        "entryPoints": [node.label for node in reach.entry_points],
        "agents": [node.label for node in reach.agents],
        "tools": [node.label for node in reach.tools],
        "unreached": [node.label for node in reach.unreached],
    }


def _by_namespace(nodes: Sequence[Node]) -> list[tuple[str, list[Node]]]:
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.namespace, []).append(node)
    return sorted(groups.items())


def _mermaid_shape(node: Node) -> str:
    begin, end = _MERMAID_SHAPES[node.kind]
    return f"{begin}{_quoted(node.name)}{end}"


def _quoted(text: str) -> str:
    """Text in quotes: names hold nothing that needs an escape, addresses may."""
    return json.dumps(text.replace('"', "'"), ensure_ascii=True)
