"""Notices as Markdown for a pull request: the summary first, the rest folded, never too long.

Text of the cluster stands between `<code>` tags with everything that Markdown or HTML gives a
meaning to written as a character reference: it cannot end its cell, open a link or ping anybody.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from holdfast.drift.finding import Severity
from holdfast.report.notice import Notice, NoticeReport, RuleText, grouped_by

LONGEST_COMMENT_CHARACTERS: Final = 60_000
"""Services cut comments at 65,536 characters; what is posted with it needs room, too."""

_LONGEST_CELL_CHARACTERS: Final = 300
_RESERVED_CHARACTERS: Final = 400
"""Room for the line that says what was left out."""

_MARKS: Final = {
    Severity.CRITICAL: "🔴 critical",
    Severity.HIGH: "🟠 high",
    Severity.MEDIUM: "🟡 medium",
    Severity.LOW: "🔵 low",
    Severity.INFO: "⚪ info",
}
_MEANINGFUL: Final = re.compile(r"[^\w ,;=/'+?%-]|_")


def markdown(report: NoticeReport) -> str:
    """The whole report, ending in a line end; at most 60,000 characters.

    What does not fit is the least severe, and the text says how much of it there is.
    """
    head = "\n".join(_head(report)) + "\n"
    rules = {rule.name: rule for rule in report.rules}
    sections = [
        ("\n".join(_section(agent, group, rules)) + "\n", len(group))
        for agent, group in _worst_first(report.notices)
    ]
    room = LONGEST_COMMENT_CHARACTERS - len(head) - _RESERVED_CHARACTERS
    shown, left_out = _fitting(sections, room)
    if left_out:
        noun = "notice is" if left_out == 1 else "notices are"
        shown.append(f"\n**{left_out} more {noun} left out here** to keep this readable.\n")
    return head + "".join(shown)


def _fitting(sections: Sequence[tuple[str, int]], room: int) -> tuple[list[str], int]:
    """As many whole sections as there is room for, and how many notices the others hold."""
    shown: list[str] = []
    left_out = 0
    for text, count in sections:
        if len(text) <= room:
            shown.append(text)
            room -= len(text)
        else:
            left_out += count
    return shown, left_out


def _worst_first(notices: Sequence[Notice]) -> list[tuple[str, list[Notice]]]:
    """Notices in groups small enough to fold: by agent and severity, the worst group first."""
    groups = [
        (agent, of_severity)
        for agent, group in grouped_by(notices, lambda each: each.agent)
        for _, of_severity in grouped_by(group, lambda each: str(each.severity.rank))
    ]
    parts = [
        (agent, group[at : at + 40]) for agent, group in groups for at in range(0, len(group), 40)
    ]
    return sorted(parts, key=lambda part: part[1][0].severity.rank)


def _head(report: NoticeReport) -> Iterator[str]:
    state = "✅" if report.is_complete and report.worst is None else "⚠️"
    yield f"### {state} {_code_free(report.title)}"
    yield ""
    yield _code_free(report.summary)
    for remark in report.remarks:
        yield ""
        yield _code(remark)
    if report.not_checked:
        yield ""
        yield f"**Not checked** ([what to do]({report.not_checked_link})):"
        yield ""
        shown = report.not_checked[:20]
        for item in shown:
            yield f"- {_code(item.scope)}: {_code(item.reason)}"
        if len(report.not_checked) > len(shown):
            yield f"- and {len(report.not_checked) - len(shown)} more"


def _section(agent: str, group: Sequence[Notice], rules: dict[str, RuleText]) -> Iterator[str]:
    severity = group[0].severity
    opened = " open" if severity in (Severity.CRITICAL, Severity.HIGH) else ""
    whose = f"agent {_code(agent)}" if agent else "no agent"
    yield ""
    yield f"<details{opened}><summary>{_MARKS[severity]} · {whose} · {len(group)}</summary>"
    yield ""
    yield "| what | where | details |"
    yield "|---|---|---|"
    for notice in group:
        rule = rules.get(notice.rule)
        what = f"[{notice.rule}]({rule.link})" if rule else _code(notice.rule)
        path = f"<br>{_code(notice.path)}" if notice.path else ""
        place = f"<br>declared at {_code(str(notice.location))}" if notice.location else ""
        facts = "<br>".join(f"{fact.label} {_code(fact.text)}" for fact in notice.facts)
        yield f"| {what} | {_code(str(notice.ref))}{path}{place} | {facts} |"
    yield ""
    yield "</details>"


def _code(text: str) -> str:
    """Foreign text as inert code."""
    cut = text[:_LONGEST_CELL_CHARACTERS]
    return f"<code>{_code_free(cut)}{'…' if len(text) > len(cut) else ''}</code>"


def _code_free(text: str) -> str:
    """Text without any character that Markdown or HTML gives a meaning to.

    Law: what is left besides character references is letters, digits, spaces
    and `,;=/'+?%-`, none of which means anything in the middle of a line.
    """
    return _MEANINGFUL.sub(lambda match: f"&#{ord(match[0])};", text)
