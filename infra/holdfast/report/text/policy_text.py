"""A policy report for people: grouped by object, each finding with place, rule and remedy."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from holdfast.kube.text import counted, safe_text
from holdfast.operations.policy.changes import ObjectChange, by_agent, count_words
from holdfast.operations.policy.model import PolicyFinding, PolicyReport, Verdict, summary_line
from holdfast.report.text.table import styled

_LONGEST_CHARACTERS: Final = 400
_MOST_NAMED: Final = 3
_SIGNS: Final = {"+": "green", "-": "red"}
_COLOURS: Final = {"mandatory": "red", "advisory": "yellow"}


def policy_text(report: PolicyReport, *, colour: bool = False) -> str:
    """The whole report, ending in a line end."""
    passed = {each.ref: len(each.passed) for each in report.objects}
    lines = _changes(report.changes or (), colour=colour)
    folded = _folded(report.findings)
    for ref, group in groupby(report.findings, key=lambda finding: finding.ref):
        findings = [each for each in group if folded[_cause(each)][0] is each]
        if not findings:
            continue
        lines.append(_title(findings[0], passed.get(ref, 0), colour=colour))
        for each in findings:
            lines += _lines(each, colour=colour)
            if others := folded[_cause(each)][1:]:
                lines.append(_others(others))
        lines.append("")
    for item in report.not_checked:
        mark = styled("NOT CHECKED", "magenta", colour=colour)
        reason = safe_text(item.reason, _LONGEST_CHARACTERS)
        lines.append(f"{mark}  {safe_text(item.scope)}: {reason}")
    lines += report.remarks
    if report.changes is not None:
        lines.append(f"changes: {count_words(report.changes) or 'none'}")
    lines.append(summary_line(report))
    return "\n".join(lines) + "\n"


def _cause(finding: PolicyFinding) -> tuple[object, ...]:
    """What findings of one cause share: one rule says the same of one line of one file."""
    own = id(finding) if finding.location is None else 0
    return own, finding.rule, finding.verdict, finding.level, finding.headline, finding.location


def _folded(findings: Iterable[PolicyFinding]) -> dict[tuple[object, ...], list[PolicyFinding]]:
    """Findings by their cause, such as a setting of the stack that many objects follow."""
    folded: dict[tuple[object, ...], list[PolicyFinding]] = {}
    for each in findings:
        folded.setdefault(_cause(each), []).append(each)
    return folded


def _others(findings: Sequence[PolicyFinding]) -> str:
    """The other objects of a finding, some of them by name."""
    names = list(dict.fromkeys(safe_text(each.subject) for each in findings))
    more = len(names) - _MOST_NAMED
    named = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{'':16}{'also':<8}{counted(len(findings), 'violation')} of the same cause: {named}"


def _changes(changes: Iterable[ObjectChange], *, colour: bool) -> list[str]:
    """What would change, agent by agent, as lines of a diff."""
    lines: list[str] = []
    for agent, group in by_agent(changes):
        title = f"changes of agent {agent}" if agent else "changes of no agent"
        lines.append(styled(title, colour=colour))
        for change in group:
            lines.append(f"  {change.title}")
            for field in change.fields:
                place = f"  at {field.location}" if field.location else ""
                lines.append(f"    {field.path}{place}")
                lines += [_signed(line, colour=colour) for line in field.value_lines]
        lines.append("")
    return lines


def _signed(line: str, *, colour: bool) -> str:
    return f"      {styled(line, _SIGNS.get(line[:1], 'white'), colour=colour)}"


def objects_text(report: PolicyReport) -> str:
    """One line an object, whatever was found: name, agent, how many rules said what."""
    found: dict[object, Counter[Verdict]] = {}
    for each in report.findings:
        found.setdefault(each.ref, Counter())[each.verdict] += 1
    lines = []
    for judged in report.objects:
        verdicts = found.get(judged.ref, Counter())
        parts = [f"{len(judged.passed)} passed"]
        parts += [f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict]]
        agent = f"  (agent {safe_text(judged.agent)})" if judged.agent else ""
        name = safe_text(str(judged.ref)) if judged.ref.kind else "the stack as a whole"
        lines.append(f"{name}{agent}: {', '.join(parts)}\n")
    return "".join(lines)


def _title(finding: PolicyFinding, passed: int, *, colour: bool) -> str:
    agent = f"  (agent {safe_text(finding.agent)})" if finding.agent else ""
    title = safe_text(finding.subject)
    count = f"  {passed} passed" if passed else ""
    return styled(title, colour=colour) + agent + count


def _lines(finding: PolicyFinding, *, colour: bool) -> Iterator[str]:
    is_violated = finding.verdict is Verdict.VIOLATED
    mark = finding.level if is_violated else finding.verdict.value
    mark = styled(f"{mark:<12}", _COLOURS.get(mark, "cyan"), colour=colour)
    yield f"  {mark}  {finding.rule} ({finding.severity})"
    place = f"  at {finding.location}" if finding.location else ""
    yield f"{'':16}{safe_text(f'{_where(finding)}{place}', _LONGEST_CHARACTERS)}"
    for label, text in (("remedy", finding.remedy), ("waived", finding.note)):
        if text:
            yield f"{'':16}{label:<8}{safe_text(text, _LONGEST_CHARACTERS)}"


def _where(finding: PolicyFinding) -> str:
    if finding.verdict is Verdict.UNDETERMINED:
        return f"{finding.path}: {finding.headline}" if finding.path else finding.headline
    return finding.headline
