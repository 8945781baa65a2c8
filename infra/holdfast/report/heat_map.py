"""Rules against agents: at one look, which rule is broken where and which is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from holdfast.report.policy_report import JudgedObject, PolicyFinding, Verdict

ORDER: Final = ("refused", "warned", "undetermined", "waived", "passed")
"""What a cell may say, the worst first."""

MOST_AGENTS: Final = 60
"""Columns that a page can still show; of more agents, those with the worst verdicts are."""


@dataclass(frozen=True)
class HeatCell:
    """What one rule says of one agent.

    Attributes:
        state: The worst of `ORDER`; empty where the rule is about nothing that the agent has.
        count: How many verdicts of that kind there are.
    """

    state: str = ""
    count: int = 0


@dataclass(frozen=True)
class HeatRow:
    """One rule, with a cell for each agent."""

    rule: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True)
class HeatMap:
    """The whole map.

    Attributes:
        agents: Columns; the empty name stands for what belongs to no agent.
        rows: Rules that say something, the worst first.
        left_out: How many agents have no column; none of them has a worse verdict than the others.
    """

    agents: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    left_out: int = 0


def heat_map(findings: Iterable[PolicyFinding], objects: Iterable[JudgedObject]) -> HeatMap:
    """The map of a report."""
    tally: dict[tuple[str, str], dict[str, int]] = {}
    for each in findings:
        _count(tally, each.rule, each.agent, _state(each))
    for judged in objects:
        for rule in judged.passed:
            _count(tally, rule, judged.agent, "passed")
    worst: dict[str, int] = {}
    for (_, agent), counted in tally.items():
        worst[agent] = min(worst.get(agent, len(ORDER)), *map(ORDER.index, counted))
    shown = sorted(worst, key=lambda agent: (worst[agent], agent))[:MOST_AGENTS]
    agents = tuple(sorted(shown))
    rules = sorted({rule for rule, _ in tally})
    rows = [
        HeatRow(rule, tuple(_cell(tally.get((rule, agent), {})) for agent in agents))
        for rule in rules
    ]
    said = [row for row in rows if any(each.state for each in row.cells)]
    return HeatMap(agents, tuple(sorted(said, key=_worst)), len(worst) - len(agents))


def _count(tally: dict[tuple[str, str], dict[str, int]], rule: str, agent: str, state: str) -> None:
    counted = tally.setdefault((rule, agent), {})
    counted[state] = counted.get(state, 0) + 1


def _state(finding: PolicyFinding) -> str:
    if finding.verdict is Verdict.VIOLATED:
        return "refused" if finding.is_mandatory else "warned"
    return finding.verdict.value


def _cell(counted: Mapping[str, int]) -> HeatCell:
    state = next((each for each in ORDER if each in counted), "")
    return HeatCell(state, counted.get(state, 0))


def _worst(row: HeatRow) -> tuple[int, str]:
    return min(ORDER.index(each.state) for each in row.cells if each.state), row.rule
