"""Who calls whom, drawn: nothing overlaps, nothing is lost without being counted."""

from holdfast.manifest.fleet.topology import Edge, Node
from holdfast.manifest.types.references import Relation
from holdfast.operations.describe.fleet import grouped
from holdfast.operations.describe.topology import Graph
from holdfast.report.html.team_map import CARD_WIDTH, MOST_LINKS, MOST_MARKS, team_map
from holdfast.report.html.topology_drawing import BOX_HEIGHT, BOX_WIDTH, MOST_BOXES, drawing_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.report.fleets import PLACE, agent, edge

RELATIONS: tuple[Relation, ...] = ("calls", "model", "tools", "egress", "dependsOn", "lets in")
KINDS = {"model": "ModelConfig", "tools": "MCPServer"}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, list[Node]]:
    agents = [Node("Agent", "cx", f"a{at}") for at in range(draw(st.integers(1, 30)))]
    edges: list[Edge] = []
    for _ in range(draw(st.integers(0, 25))):
        relation = draw(st.sampled_from(RELATIONS))
        source = draw(st.sampled_from(agents))
        if relation == "lets in":
            gateway = Node("Gateway", "", "gateway")
            edges.append(Edge(gateway, source, relation, (), PLACE))
            continue
        other = Node(KINDS.get(relation, "Agent"), "cx", f"a{draw(st.integers(0, 35))}")
        edges.append(Edge(source, other, relation, (), PLACE))
    members = agents[: draw(st.integers(1, len(agents)))]
    return Graph("", tuple(agents), tuple(edges)), members


@settings(max_examples=40)
@given(graphs())
def test_boxes_do_not_overlap_and_stay_inside(given_graph: tuple[Graph, list[Node]]) -> None:
    drawing = drawing_of(*given_graph)
    for at, one in enumerate(drawing.boxes):
        assert one.x >= 0
        assert one.x + BOX_WIDTH <= drawing.width
        assert 0 <= one.y <= drawing.height - BOX_HEIGHT
        for other in drawing.boxes[at + 1 :]:
            apart = abs(one.x - other.x) >= BOX_WIDTH or abs(one.y - other.y) >= BOX_HEIGHT
            assert apart, (one, other)


@settings(max_examples=40)
@given(graphs())
def test_every_reference_between_boxes_is_drawn_and_every_agent_counted(
    given_graph: tuple[Graph, list[Node]],
) -> None:
    graph, members = given_graph
    drawing = drawing_of(graph, members)
    shown = {box.node for box in drawing.boxes}
    middle = set(members[:MOST_BOXES])
    assert middle <= shown
    assert drawing.left_out.get("Agents", 0) == len(members) - len(middle)
    drawn = {(curve.source, curve.target) for curve in drawing.curves}
    for each in graph.edges:
        touches = each.source in middle or each.target in middle
        if touches and {each.source, each.target} <= shown and each.source != each.target:
            assert (each.source, each.target) in drawn


@settings(max_examples=40)
@given(graphs())
def test_the_same_fleet_is_drawn_the_same_way(given_graph: tuple[Graph, list[Node]]) -> None:
    graph, members = given_graph
    turned = Graph("", graph.nodes[::-1], graph.edges[::-1])
    assert drawing_of(graph, members) == drawing_of(turned, members)


def test_several_references_between_two_are_one_arrow() -> None:
    model = Node("ModelConfig", "cx", "gpt")
    edges = (edge("a", model, "model"), edge("a", model, "model"), edge("a", model, "fallback"))
    a = Node("Agent", "cx", "a")
    curves = drawing_of(Graph("", (a, model), edges), [a]).curves
    assert [(each.relations, each.is_dashed) for each in curves] == [
        (("model",), False),
        (("fallback",), True),
    ]


def test_a_long_name_is_cut_and_kept_in_full_beside() -> None:
    node = Node("Agent", "cx", "an-agent-whose-name-goes-on-and-on")
    (box,) = drawing_of(Graph("", (node,), ()), [node]).boxes
    assert box.label == "an-agent-whose-name-goes-o…"
    assert box.node.name.endswith("on-and-on")


def test_a_team_map_has_a_mark_an_agent_and_counts_the_rest() -> None:
    agents = [agent(f"a{at}", team="big") for at in range(MOST_MARKS + 5)]
    agents += [agent(f"b{at}", team=f"t{at}") for at in range(6)]
    made = team_map(grouped(agents), ())
    big = next(card for card in made.cards if card.group == "big")
    assert (len(big.marks), big.left_out, big.agents) == (MOST_MARKS, 5, MOST_MARKS + 5)
    for card in made.cards:
        for mark in card.marks:
            assert card.x < mark.x < card.x + CARD_WIDTH
            assert card.y < mark.y < card.y + card.height
        assert card.x + CARD_WIDTH <= made.width
        assert card.y + card.height <= made.height


def test_links_between_teams_are_counted_the_strongest_drawn() -> None:
    agents = [agent(f"a{at}", team=f"t{at:02}") for at in range(12)]
    edges = [
        edge(f"a{one}", Node("Agent", "cx", f"a{other}"), "egress")
        for one in range(12)
        for other in range(12)
    ]
    edges += [edge("a3", Node("Agent", "cx", "a7"), "calls")]
    made = team_map(grouped(agents), edges)
    assert len(made.links) == MOST_LINKS
    assert made.links_left_out == 12 * 11 - MOST_LINKS
    assert (made.links[0].source, made.links[0].target, made.links[0].count) == ("t03", "t07", 2)
