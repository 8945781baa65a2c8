"""The drift report for people: grouped by object, each finding with who, when and which rule.

Everything that comes from the cluster passes `safe_text`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from holdfast.drift.finding import (
    AgentState,
    Cause,
    DriftReport,
    ExpectedBy,
    Finding,
    IgnoredBy,
    Severity,
)
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.drift.scan import by_team
from holdfast.kube.text import counted, safe_text, value_words
from holdfast.report.text.finding_text import (
    KEPT_FOR,
    actor_words,
    is_kept,
    layer_words,
    path_words,
    policy_words,
    risk_words,
)
from holdfast.report.text.table import styled

_COLOURS: Final = {
    Severity.CRITICAL: "red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
    Severity.INFO: "bright_black",
}
_EXPECTED: Final = {
    ExpectedBy.DECLARATION: "declared",
    ExpectedBy.DEFAULT: "default",
    ExpectedBy.BASELINE: "before",
    ExpectedBy.SERVER: "before",
    ExpectedBy.RECORD: "updated",
    ExpectedBy.NOBODY: "",
}
_INDENT: Final = " " * 12


def drift_text(
    report: DriftReport,
    *,
    colour: bool = False,
    history_of: Callable[[Finding], FindingHistory | None] = lambda _: None,
) -> str:
    """The whole report, ending in a line end; with the history of findings that have one."""
    lines: list[str] = []
    for _, group in groupby(report.findings, key=lambda finding: finding.ref):
        lines += [*_object_lines(list(group), history_of, colour=colour), ""]
    for item in report.not_checked:
        mark = styled("NOT CHECKED", "magenta", colour=colour)
        lines.append(f"{mark}  {safe_text(item.scope)}: {safe_text(item.reason)}")
    if report.not_checked:
        lines.append("")
    lines += [*remarks_on(report), summary_line(report)]
    return "\n".join(lines) + "\n"


def remarks_on(report: DriftReport) -> list[str]:
    """Lines about the whole: causes, what was expected, the state of agents, which layers ran."""
    return [
        *(_cause_line(each) for each in report.causes),
        *(_ignored_line(each) for each in report.ignored),
        *_agent_lines(report),
        *(layer_words(layer) for layer in report.layers),
    ]


def _cause_line(each: Cause) -> str:
    remedy = f"; {each.remedy}" if each.remedy else ""
    return f"one cause: {safe_text(each.summary, longest=400)}{remedy}"


def _agent_lines(report: DriftReport) -> Iterator[str]:
    """How many agents are in which state, and by team where there are several."""
    if not report.agents or all(each.state is AgentState.SYNCED for each in report.agents):
        return
    yield f"agents: {_states(Counter(each.state for each in report.agents))}"
    teams = by_team(report.agents)
    for team, tally in sorted(teams.items()) if len(teams) > 1 else ():
        if tally[AgentState.SYNCED] != tally.total():
            yield f"  team {safe_text(team or '(none)')}: {_states(tally)}"


def _states(tally: Counter[AgentState]) -> str:
    return ", ".join(f"{tally[state]} {state}" for state in AgentState if tally[state])


def _ignored_line(each: IgnoredBy) -> str:
    """Each rule in one line: what it took out, or that it is of no use."""
    until = f" until {each.expires}" if each.expires else ""
    rule = safe_text(f"{each.location}{until}, {each.owner or 'no owner'}: {each.reason}", 400)
    if not each.findings:
        return f"expected, and matches nothing: {rule}"
    tally = Counter(finding.severity for finding in each.findings)
    levels = ", ".join(f"{tally[level]} {level}" for level in Severity if tally[level])
    count = len(each.findings)
    return f"expected: {counted(count, 'finding')} ({levels}) by {rule}"


def summary_line(report: DriftReport) -> str:
    """One line: how many findings, where, how bad, and whether everything was checked."""
    tally = Counter(finding.severity for finding in report.drift)
    remarks = len(report.findings) - len(report.drift)
    objects = len({finding.ref for finding in report.drift})
    checked = report.objects_checked
    scope = "" if checked is None else f" ({counted(checked, 'object')} checked)"
    if not tally:
        state = "in sync" if report.is_complete else "no drift seen"
    else:
        levels = ", ".join(f"{tally[each]} {each}" for each in Severity if tally[each])
        total = tally.total()
        state = f"{counted(total, 'finding')} in {counted(objects, 'object')}"
        state += f": {levels}"
    parts = [f"{state}{scope}"]
    if remarks:
        parts.append(counted(remarks, "remark"))
    if not report.is_complete:
        count = len(report.not_checked)
        parts.append(f"INCOMPLETE: {counted(count, 'thing')} not checked")
    return "; ".join(parts)


def severity_colour(severity: Severity) -> str:
    """Colour of a severity on a terminal."""
    return _COLOURS[severity]


def _object_lines(
    findings: list[Finding], history_of: Callable[[Finding], FindingHistory | None], *, colour: bool
) -> Iterator[str]:
    first = findings[0]
    agent = f"  (agent {safe_text(first.agent)})" if first.agent else ""
    title = safe_text(str(first.ref))
    yield styled(title, colour=colour) + agent
    for finding in findings:
        severity = styled(f"{finding.severity:<8}", _COLOURS[finding.severity], colour=colour)
        path = path_words(finding)
        yield f"  {severity}  {finding.drift_class:<8} {path}".rstrip()
        yield from (f"{_INDENT}{line}" for line in _detail_lines(finding))
        if (seen := history_of(finding)) and seen.count > 1:
            yield f"{_INDENT}{'seen':<9}{seen}"


def _detail_lines(finding: Finding) -> Iterator[str]:
    if finding.path:
        if finding.desired is not None:
            yield f"{_EXPECTED[finding.expected_by]:<9}{value_words(finding.desired)}"
        if finding.live is not None:
            found = "recorded" if finding.expected_by is ExpectedBy.RECORD else "live"
            yield f"{found:<9}{value_words(finding.live)}"
    if is_kept(finding):
        yield f"{'kept':<9}by an update that removed it from the stack; {KEPT_FOR}"
        return
    for actor in finding.actors:
        yield f"{'by':<9}{actor_words(actor)}"
    if not finding.actors:
        yield f"{'by':<9}unknown"
    if finding.seen_by != ("holdfast",):
        yield f"{'seen by':<9}{', '.join(finding.seen_by)}"
    if finding.policies:
        yield f"{'breaks':<9}{policy_words(finding)}"
    if risk := risk_words(finding):
        yield f"{'risk':<9}{risk}"
