"""Who calls and uses whom, as a drawing: boxes in three columns and curves between. Pure.

Callers stand on the left, the agents that the drawing is about in the middle, what they use on the
right. Lengths are in the drawing's own units, which a page scales.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.topology import GATEWAY_KIND, NAMESPACE_KIND, Edge, Node
from holdfast.operations.describe.topology import Graph

MOST_BOXES: Final = 24
"""Boxes in one column; of more, the first are drawn and the others counted."""

BOX_WIDTH: Final = 216
BOX_HEIGHT: Final = 40
LONGEST_LABEL_CHARACTERS: Final = 27
_ROW: Final = 56
_GAP: Final = 96
_TOP: Final = 34
_MARGIN: Final = 10
_BEND: Final = 0.5
_SWEEPS: Final = 3
_DASHED: Final = frozenset({"dependsOn", "fallback"})


@dataclass(frozen=True)
class Box:
    """One node.

    Attributes:
        x: Left edge.
        y: Upper edge.
        label: Its name, cut to what fits.
    """

    node: Node
    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Curve:
    """Every reference from one node to another.

    Attributes:
        relations: Which, without repetition.
        path: As an SVG path.
        is_dashed: It is an order of starting or a stand-in, and no call.
    """

    source: Node
    target: Node
    relations: tuple[str, ...]
    path: str
    is_dashed: bool


@dataclass(frozen=True)
class Heading:
    """Words above a column."""

    text: str
    x: float


@dataclass(frozen=True)
class Drawing:
    """A whole drawing.

    Attributes:
        left_out: Column to how many of its nodes are not drawn; only those that lack some.
    """

    width: float
    height: float
    headings: tuple[Heading, ...]
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    left_out: Mapping[str, int]


def drawing_of(graph: Graph, members: Sequence[Node], most: int = MOST_BOXES) -> Drawing:
    """Draw agents with all that calls them and all that they use.

    Args:
        graph: The fleet, or a part of it.
        members: Agents in the middle, the most important first.
        most: Boxes in one column.
    """
    drawn = list(members[:most])
    middle = set(drawn)
    near = (each for each in graph.edges if each.source in middle or each.target in middle)
    edges = sorted(near)
    left = {each.source for each in edges if _calls_in(each, middle)}
    right = {each.target for each in edges if each.target not in middle} - left
    columns = {
        "Callers": _shortened(left, edges, most),
        "Agents": drawn,
        "Uses": _shortened(right, edges, most),
    }
    missing = {"Callers": len(left), "Agents": len(members), "Uses": len(right)}
    left_out = {
        name: missing[name] - len(nodes)
        for name, nodes in columns.items()
        if missing[name] > len(nodes)
    }
    filled = {name: nodes for name, nodes in columns.items() if nodes}
    _untangle(list(filled.values()), edges)
    return _placed(filled, edges, left_out)


def _calls_in(edge: Edge, middle: Collection[Node]) -> bool:
    is_caller = edge.source.kind in {AGENT_KIND, GATEWAY_KIND, NAMESPACE_KIND}
    return edge.source not in middle and is_caller


def _shortened(nodes: Iterable[Node], edges: Iterable[Edge], most: int) -> list[Node]:
    """The most referred to, in order of name."""
    counted: dict[Node, int] = {}
    for edge in edges:
        for node in (edge.source, edge.target):
            counted[node] = counted.get(node, 0) + 1
    chosen = sorted(nodes, key=lambda node: (-counted[node], node))[:most]
    return sorted(chosen)


def _untangle(columns: Sequence[list[Node]], edges: Sequence[Edge]) -> None:
    """Order each column by where its neighbours stand, so that few curves cross."""
    for _ in range(_SWEEPS):
        for column in columns:
            places = {
                node: at / max(len(one), 1)
                for one in columns
                if one is not column
                for at, node in enumerate(one)
            }
            column.sort(key=_barycentre(column, places, edges))


def _barycentre(
    column: Sequence[Node], places: Mapping[Node, float], edges: Sequence[Edge]
) -> Callable[[Node], tuple[float, Node]]:
    found: dict[Node, list[float]] = {}
    for edge in edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if other in places:
                found.setdefault(one, []).append(places[other])
    own = {node: at / max(len(column), 1) for at, node in enumerate(column)}
    return lambda node: (
        sum(found[node]) / len(found[node]) if node in found else own[node],
        node,
    )


def _placed(
    columns: Mapping[str, Sequence[Node]], edges: Sequence[Edge], left_out: Mapping[str, int]
) -> Drawing:
    rows = max(map(len, columns.values()), default=0)
    height = _TOP + rows * _ROW + _MARGIN
    boxes: dict[Node, Box] = {}
    headings = []
    # A curve between two agents bends out to the left of their column.
    start = _MARGIN if "Callers" in columns else _MARGIN + _GAP / 2
    x = start
    for name, nodes in columns.items():
        headings.append(Heading(name, x))
        y = _TOP + (rows - len(nodes)) * _ROW / 2
        for node in nodes:
            boxes[node] = Box(node, x, y, _cut(node.name))
            y += _ROW
        x += BOX_WIDTH + _GAP
    curves = tuple(_curves(edges, boxes))
    width = x - _GAP + _MARGIN
    return Drawing(width, height, tuple(headings), tuple(boxes.values()), curves, left_out)


def _curves(edges: Iterable[Edge], boxes: Mapping[Node, Box]) -> Iterable[Curve]:
    together: dict[tuple[Node, Node, bool], set[str]] = {}
    for edge in edges:
        if edge.source in boxes and edge.target in boxes and edge.source != edge.target:
            key = (edge.source, edge.target, edge.relation in _DASHED)
            together.setdefault(key, set()).add(edge.relation)
    for (source, target, is_dashed), relations in sorted(together.items()):
        path = _path(boxes[source], boxes[target])
        yield Curve(source, target, tuple(sorted(relations)), path, is_dashed)


def _path(source: Box, target: Box) -> str:
    begin, end = source.y + BOX_HEIGHT / 2, target.y + BOX_HEIGHT / 2
    if source.x == target.x:
        out = source.x - min(_GAP * _BEND, 18 + abs(end - begin) / 8)
        return f"M{source.x:g} {begin:g}C{out:g} {begin:g} {out:g} {end:g} {target.x:g} {end:g}"
    if source.x < target.x:
        here, there = source.x + BOX_WIDTH, target.x
    else:
        here, there = source.x, target.x + BOX_WIDTH
    bend = (there - here) * _BEND
    middle = here + bend
    return f"M{here:g} {begin:g}C{middle:g} {begin:g} {middle:g} {end:g} {there:g} {end:g}"


def _cut(name: str) -> str:
    longest = LONGEST_LABEL_CHARACTERS
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
