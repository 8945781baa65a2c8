"""One stack as a page shows it: in which order, in which groups, cut to what can be read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import Finding
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.kube.text import safe_text
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.topology import Node
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND
from holdfast.operations.describe.fleet import FleetAgent, FleetStack, grouped, worst_first
from holdfast.operations.policy.heat_map import HeatMap, HeatRow, PolicyRow, policy_rows
from holdfast.report.exchange.drift_notices import drift_notices
from holdfast.report.exchange.notice import Notice
from holdfast.report.html.team_map import TeamMap, team_map
from holdfast.report.html.topology_drawing import Drawing, drawing_of
from holdfast.report.text.fleet_summary import FleetVerdict, verdict_of

MOST_AGENTS_UNGROUPED: Final = 24
"""A stack of more agents is shown by team, folded, with the worst agents before."""

MOST_URGENT: Final = 12
MOST_FINDINGS: Final = 150
MOST_UPDATES: Final = 25
MOST_TEAMS_DRAWN: Final = 10


@dataclass(frozen=True)
class DriftRow:
    """One finding, in the words of every report."""

    notice: Notice
    history: FindingHistory | None
    who: str
    rules: str
    anchor: str = ""


@dataclass(frozen=True)
class TeamDrawing:
    """What one team calls and uses."""

    team: str
    drawing: Drawing


class StackView:
    """One stack, everything cut to what a page can hold.

    Attributes:
        at: Its place on the page, which makes its anchors unique.
    """

    def __init__(self, stack: FleetStack, at: int) -> None:
        self.stack = stack
        self.at = at
        self.groups = grouped(stack.agents)
        self.agents_by_place = {(each.namespace, each.name): each for each in stack.agents}

    @cached_property
    def verdict(self) -> FleetVerdict:
        """The stack in a word."""
        return verdict_of((self.stack,))

    @property
    def is_large(self) -> bool:
        """Whether agents are shown by team."""
        return len(self.stack.agents) > MOST_AGENTS_UNGROUPED

    @cached_property
    def worst_first(self) -> list[FleetAgent]:
        """Every agent."""
        return worst_first(self.stack.agents)

    @cached_property
    def urgent(self) -> list[FleetAgent]:
        """The agents that need attention."""
        return [each for each in self.worst_first if each.concerns][:MOST_URGENT]

    def anchor(self, agent: FleetAgent) -> str:
        """Where an agent stands on the page."""
        return f"agent-{self.at}-{self._numbers[agent.name]}"

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {each.name: at for at, each in enumerate(self.stack.agents)}

    @cached_property
    def findings(self) -> list[DriftRow]:
        """The worst findings; each agent's first one has an anchor."""
        worst = sorted(self.stack.drift.drift, key=lambda one: (one.severity.rank, one.sort_key))
        report = replace(self.stack.drift, findings=tuple(worst[:MOST_FINDINGS]))
        notices = drift_notices(report, self.stack.context).notices
        rows, known = [], set[str]()
        for finding, notice in zip(report.findings, notices, strict=True):
            anchor = "" if finding.agent in known else self.drift_anchor(finding.agent)
            known.add(finding.agent)
            rows.append(
                DriftRow(
                    notice,
                    self.stack.context.history_of(finding),
                    _who(finding),
                    safe_text(", ".join(finding.policies)),
                    anchor,
                )
            )
        return rows

    def drift_anchor(self, agent: str) -> str:
        """Where the drift of an agent stands; empty for that of no agent."""
        return f"drift-{self.at}-{self._numbers[agent]}" if agent in self._numbers else ""

    @property
    def findings_left_out(self) -> int:
        """How many findings are counted only."""
        return len(self.stack.drift.drift) - len(self.findings)

    @cached_property
    def heat_map(self) -> HeatMap:
        """Rules that are violated or undetermined; the worst agents' columns first."""
        made = self._whole_heat_map
        rows = tuple(row for row in made.rows if not _is_passed(row))
        order = [group for group, _ in self.groups]
        if not self.is_large:
            order = [each.name for each in self.worst_first]
        places = {name: at for at, name in enumerate(order)}
        columns = sorted(
            range(len(made.agents)),
            key=lambda at: (places.get(made.agents[at], len(places)), made.agents[at]),
        )
        return HeatMap(
            tuple(made.agents[at] for at in columns),
            tuple(replace(row, cells=tuple(row.cells[at] for at in columns)) for row in rows),
            made.left_out,
        )

    @cached_property
    def _whole_heat_map(self) -> HeatMap:
        return self.stack.heat_map(by_group=self.is_large)

    @cached_property
    def rules_passed(self) -> list[str]:
        """Rules that everybody keeps."""
        return sorted(row.rule for row in self._whole_heat_map.rows if _is_passed(row))

    @property
    def policy_rows(self) -> list[PolicyRow]:
        """What each broken rule is about."""
        return policy_rows(self.stack.policy, self.stack.drift)

    @property
    def updates(self) -> list[UpdateRecord]:
        """The newest first."""
        return list(reversed(self.stack.updates))[:MOST_UPDATES]

    @cached_property
    def team_map(self) -> TeamMap | None:
        """All teams at one look; None where one drawing shows every agent."""
        return team_map(self.groups, self.stack.graph.edges) if self.is_large else None

    @property
    def teams_not_drawn(self) -> int:
        """How many teams that call and use something have no drawing of their own."""
        return len(self._drawable) - len(self.drawings)

    @cached_property
    def drawings(self) -> list[TeamDrawing]:
        """The whole fleet, or the teams that call and use something, the worst first."""
        return [
            TeamDrawing(team, drawing_of(self.stack.graph, nodes))
            for team, nodes in self._drawable[:MOST_TEAMS_DRAWN]
        ]

    @cached_property
    def _drawable(self) -> list[tuple[str, list[Node]]]:
        groups = self.groups if self.is_large else [("", self.worst_first)]
        edges = self.stack.graph.edges
        busy = {node for edge in edges for node in (edge.source, edge.target)}
        members = [
            (team, [node for each in agents if (node := _node(each)).kind == AGENT_KIND])
            for team, agents in groups
        ]
        return [
            (team, nodes)
            for team, nodes in members
            if nodes and (not self.is_large or busy.intersection(nodes))
        ]

    def agent_at(self, node: Node) -> FleetAgent | None:
        """The agent that a box stands for; None for what is none of the stack."""
        if node.kind not in {AGENT_KIND, MCP_SERVER_KIND}:
            return None
        return self.agents_by_place.get((node.namespace, node.name))

    def has(self, agents: Sequence[FleetAgent]) -> str:
        """Classes by which the filter finds a group."""
        found = sorted({concern for each in agents for concern in each.concerns})
        return " ".join(f"is-{each}" for each in found)


def _who(finding: Finding) -> str:
    """Who did it, in two words; the rest stands among the facts."""
    if not finding.actors:
        return "author not known"
    actor = finding.actors[0]
    if actor.user:
        return safe_text(f"by {actor.user}, {actor.manager}" if actor.manager else actor.user)
    return safe_text(f"by {actor.manager}") + " (no audit entry)"


def _node(agent: FleetAgent) -> Node:
    kind = MCP_SERVER_KIND if agent.type == "tool server" else AGENT_KIND
    return Node(kind, agent.namespace, agent.name)


def _is_passed(row: HeatRow) -> bool:
    return all(cell.state in {"passed", ""} for cell in row.cells)
