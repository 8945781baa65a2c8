"""A large fleet at one look: a card a team, a mark an agent, and how teams call one another. Pure.

Lengths are in the drawing's own units, which a page scales.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.manifest.fleet.topology import Edge, Node
from holdfast.operations.describe.fleet import FleetAgent

MOST_LINKS: Final = 24
MARKS_A_ROW: Final = 14
MOST_MARKS: Final = 140
CARD_WIDTH: Final = 264
_CARDS_A_ROW: Final = 3
_GAP: Final = 44
_PITCH: Final = 17
_HEAD: Final = 46
_MARGIN: Final = 10
_CALLS: Final = frozenset({"calls", "egress"})


@dataclass(frozen=True)
class Mark:
    """One agent; x and y are its centre."""

    agent: FleetAgent
    x: float
    y: float


@dataclass(frozen=True)
class Card:
    """One team.

    Attributes:
        left_out: How many of its agents have no mark; none of them is worse than those that have.
    """

    group: str
    agents: int
    x: float
    y: float
    height: float
    marks: tuple[Mark, ...]
    left_out: int


@dataclass(frozen=True)
class Link:
    """How often agents of one team refer to agents of another.

    Attributes:
        path: As an SVG path.
    """

    source: str
    target: str
    count: int
    path: str


@dataclass(frozen=True)
class TeamMap:
    """The whole map; links left out are the weakest."""

    width: float
    height: float
    cards: tuple[Card, ...]
    links: tuple[Link, ...]
    links_left_out: int


def team_map(groups: Sequence[tuple[str, Sequence[FleetAgent]]], edges: Iterable[Edge]) -> TeamMap:
    """Draw teams in the order given, and the calls between them."""
    cards = _cards(groups)
    place = {card.group: card for card in cards}
    counted = _calls_between(groups, edges)
    chosen = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    links = tuple(
        Link(source, target, count, _path(place[source], place[target]))
        for (source, target), count in chosen[:MOST_LINKS]
    )
    width = _MARGIN * 2 + min(len(cards), _CARDS_A_ROW) * (CARD_WIDTH + _GAP) - _GAP
    height = max((card.y + card.height for card in cards), default=0) + _MARGIN
    return TeamMap(width, height, tuple(cards), links, len(counted) - len(links))


def _cards(groups: Sequence[tuple[str, Sequence[FleetAgent]]]) -> list[Card]:
    cards: list[Card] = []
    y = float(_MARGIN)
    for first in range(0, len(groups), _CARDS_A_ROW):
        row = groups[first : first + _CARDS_A_ROW]
        most = max(min(len(agents), MOST_MARKS) for _, agents in row)
        height = _HEAD + -(-most // MARKS_A_ROW) * _PITCH + 8
        for at, (group, agents) in enumerate(row):
            x = _MARGIN + at * (CARD_WIDTH + _GAP)
            marks = tuple(
                Mark(
                    agent,
                    x + 18 + number % MARKS_A_ROW * _PITCH,
                    y + _HEAD + 6 + number // MARKS_A_ROW * _PITCH,
                )
                for number, agent in enumerate(agents[:MOST_MARKS])
            )
            left_out = len(agents) - len(marks)
            cards.append(Card(group, len(agents), x, y, height, marks, left_out))
        y += height + _GAP
    return cards


def _calls_between(
    groups: Sequence[tuple[str, Sequence[FleetAgent]]], edges: Iterable[Edge]
) -> Counter[tuple[str, str]]:
    group_of = {
        (agent.namespace, agent.name): group for group, agents in groups for agent in agents
    }

    def group(node: Node) -> str | None:
        return group_of.get((node.namespace, node.name))

    counted: Counter[tuple[str, str]] = Counter()
    for edge in edges:
        source, target = group(edge.source), group(edge.target)
        is_call = edge.relation in _CALLS
        if is_call and source is not None and target is not None and source != target:
            counted[source, target] += 1
    return counted


def _path(source: Card, target: Card) -> str:
    """From edge to edge of two cards, through the gaps between them."""
    x, there = source.x + CARD_WIDTH / 2, target.x + CARD_WIDTH / 2
    if source.y == target.y:
        # Side by side: out of the lower edge, through the gap, and up again.
        begin, end = source.y + source.height, target.y + target.height
        low = max(begin, end) + _GAP * 0.6
        return f"M{x:g} {begin:g}C{x:g} {low:g} {there:g} {low:g} {there:g} {end:g}"
    if source.y < target.y:
        begin, end = source.y + source.height, target.y
    else:
        begin, end = source.y, target.y + target.height
    if x == there and abs(end - begin) > _GAP:
        # Not behind the cards between them: beside them.
        out = x + CARD_WIDTH / 2 + _GAP
        return f"M{x:g} {begin:g}C{out:g} {begin:g} {out:g} {end:g} {there:g} {end:g}"
    middle = (begin + end) / 2
    return f"M{x:g} {begin:g}C{x:g} {middle:g} {there:g} {middle:g} {there:g} {end:g}"
