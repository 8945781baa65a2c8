"""Rules against agents: which rule is broken where, and each broken rule on one line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from holdfast.drift.finding import DriftReport, Severity
from holdfast.operations.policy.model import JudgedObject, PolicyFinding, PolicyReport, Verdict

ORDER: Final = ("refused", "drifted", "warned", "undetermined", "waived", "passed")
"""What a cell may say, the worst first; drifted: what runs breaks what the declaration keeps."""

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


def heat_map(
    findings: Iterable[PolicyFinding],
    objects: Iterable[JudgedObject],
    *,
    live: Iterable[tuple[str, str]] = (),
    groups: Mapping[str, str] | None = None,
) -> HeatMap:
    """The map of a report.

    Args:
        findings: What rules have against objects.
        objects: What was judged, with what it passed.
        live: Rule and agent of everything that what runs newly breaks.
        groups: Agent to the column that it shares with others; None for one an agent.
    """
    tally: dict[tuple[str, str], dict[str, int]] = {}

    def count(rule: str, agent: str, state: str) -> None:
        column = agent if groups is None else groups.get(agent, "")
        counted = tally.setdefault((rule, column), {})
        counted[state] = counted.get(state, 0) + 1

    for each in findings:
        count(each.rule, each.agent, state_of(each))
    for judged in objects:
        for rule in judged.passed:
            count(rule, judged.agent, "passed")
    for rule, agent in live:
        count(rule, agent, "drifted")
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


def state_of(finding: PolicyFinding) -> str:
    """The word of `ORDER` for a finding."""
    if finding.verdict is Verdict.VIOLATED:
        return "refused" if finding.is_mandatory else "warned"
    return finding.verdict.value


def _cell(counted: Mapping[str, int]) -> HeatCell:
    state = next((each for each in ORDER if each in counted), "")
    return HeatCell(state, counted.get(state, 0))


def _worst(row: HeatRow) -> tuple[int, str]:
    return min(ORDER.index(each.state) for each in row.cells if each.state), row.rule


@dataclass(frozen=True)
class PolicyRow:
    """One rule.

    Attributes:
        state: The worst that it says, a word of a heat map.
        count: How often it says that.
        severity: None for a rule that only what runs breaks.
        example: One finding of that kind; None likewise.
        live: How often what runs newly breaks it.
    """

    rule: str
    state: str
    count: int
    severity: Severity | None
    example: PolicyFinding | None
    live: int = 0


def policy_rows(policy: PolicyReport, drift: DriftReport) -> list[PolicyRow]:
    """Every rule that says anything but passed, the worst first."""
    said: dict[str, list[PolicyFinding]] = {}
    for each in policy.findings:
        said.setdefault(each.rule, []).append(each)
    live = [rule for each in drift.drift for rule in each.policies]
    rows = [_policy_row(rule, said.get(rule, []), live.count(rule)) for rule in {*said, *live}]
    return sorted(rows, key=lambda row: (ORDER.index(row.state), -row.live, -row.count, row.rule))


def _policy_row(rule: str, findings: Iterable[PolicyFinding], live: int) -> PolicyRow:
    states = [(state_of(each), each) for each in findings]
    found = {state for state, _ in states} | ({"drifted"} if live else set())
    worst = next(each for each in ORDER if each in found)
    same = [each for state, each in states if state == worst]
    if not same:
        return PolicyRow(rule, worst, live, None, None, live)
    return PolicyRow(rule, worst, len(same), same[0].severity, same[0], live)
