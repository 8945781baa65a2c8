"""The graph of a fleet as data: a part of `holdfast.dev/graph/v1` and `holdfast.dev/fleet/v1`."""

import msgspec

from holdfast.kube.paths import format_path
from holdfast.manifest.fleet.topology import Edge
from holdfast.operations.describe.topology import Graph
from holdfast.report.documents.parts import Count, Part


class NodePart(Part):
    """Something of a fleet."""

    kind: str
    namespace: str
    name: str


class EdgePart(Part):
    """That one calls, uses or waits for another, and the field that says so."""

    source: NodePart = msgspec.field(name="from")
    target: NodePart = msgspec.field(name="to")
    relation: str
    field: str
    file: str
    line: Count

    @classmethod
    def of(cls, edge: Edge) -> "EdgePart":
        """An edge as data."""
        place = edge.location
        return cls(
            NodePart.copy_of(edge.source),
            NodePart.copy_of(edge.target),
            edge.relation,
            format_path(edge.path),
            place.file,
            place.line,
        )


class TopologyPart(Part):
    """Nodes and edges.

    Attributes:
        nodes: Sorted.
        edges: Sorted.
    """

    nodes: list[NodePart]
    edges: list[EdgePart]

    @classmethod
    def of(cls, graph: Graph) -> "TopologyPart":
        """A graph as data."""
        return cls(
            [NodePart.copy_of(each) for each in graph.nodes],
            [EdgePart.of(each) for each in graph.edges],
        )
