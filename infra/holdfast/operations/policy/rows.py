"""Broken rules, one line each: how often, how bad, an example and what to change."""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.drift.finding import DriftReport, Severity
from holdfast.operations.policy.heat_map import ORDER, state_of
from holdfast.operations.policy.model import PolicyFinding, PolicyReport


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
    rows = [_row(rule, said.get(rule, []), live.count(rule)) for rule in {*said, *live}]
    return sorted(rows, key=lambda row: (ORDER.index(row.state), -row.live, -row.count, row.rule))


def _row(rule: str, findings: Iterable[PolicyFinding], live: int) -> PolicyRow:
    states = [(state_of(each), each) for each in findings]
    found = {state for state, _ in states} | ({"drifted"} if live else set())
    worst = next(each for each in ORDER if each in found)
    same = [each for state, each in states if state == worst]
    if not same:
        return PolicyRow(rule, worst, live, None, None, live)
    return PolicyRow(rule, worst, len(same), same[0].severity, same[0], live)
