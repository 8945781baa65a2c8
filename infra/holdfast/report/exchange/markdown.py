"""Notices as Markdown for a pull request: the summary first, the rest folded, never too long.

What a deployment would change comes before what is wrong, agent by agent. Foreign text cannot end
its cell, open a link or ping anybody.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from holdfast.drift.finding import Severity
from holdfast.operations.policy.changes import ObjectChange, by_agent, count_words
from holdfast.report.exchange.notice import Notice, NoticeReport, RuleText, grouped_by

_LONGEST_CELL_CHARACTERS: Final = 300
_MEANINGFUL: Final = re.compile(r"[^\w ,;=/'+?%-]|_")


def escape_markdown(text: str) -> str:
    """Text without any character that Markdown or HTML gives a meaning to.

    Law: what is left besides character references is letters, digits, spaces
    and `,;=/'+?%-`, none of which means anything in the middle of a line.
    """
    return _MEANINGFUL.sub(lambda match: f"&#{ord(match[0])};", text)


def escaped_code(text: str, longest: int = _LONGEST_CELL_CHARACTERS) -> str:
    """Foreign text as escape_markdown code, cut where it is long."""
    cut = text[:longest]
    return f"<code>{escape_markdown(cut)}{'…' if len(text) > len(cut) else ''}</code>"


def escaped_diff(lines: list[str]) -> str:
    """Lines of a diff as a block in which nothing but their signs has a meaning."""
    return "\n".join(['<pre lang="diff">', *map(escape_markdown, lines), "</pre>"])


LONGEST_COMMENT_CHARACTERS: Final = 60_000
"""Services cut comments at 65,536 characters; what is posted with it needs room, too."""

_MOST_IN_A_SECTION: Final = 40
_RESERVED_CHARACTERS: Final = 400
"""Room for the line that says what was left out."""

_MARKS: Final = {
    Severity.CRITICAL: "🔴 critical",
    Severity.HIGH: "🟠 high",
    Severity.MEDIUM: "🟡 medium",
    Severity.LOW: "🔵 low",
    Severity.INFO: "⚪ info",
}

Item = TypeVar("Item")


def markdown(report: NoticeReport) -> str:
    """The whole report, ending in a line end; at most 60,000 characters.

    What does not fit is the least severe, and the text says how much of it there is. Empty when
    there is nothing to say about a change: see `NoticeReport.is_empty_comment`.
    """
    if report.is_empty_comment:
        return ""
    head = "\n".join(_head(report)) + "\n"
    rules = {rule.name: rule for rule in report.rules}
    sections = [
        ("\n".join(_change_section(agent, group)) + "\n", len(group))
        for agent, changes in by_agent(report.changes or ())
        for group in _parts(changes)
    ]
    sections += [
        ("\n".join(_section(agent, group, rules)) + "\n", len(group))
        for agent, group in _worst_first(report.notices)
    ]
    room = LONGEST_COMMENT_CHARACTERS - len(head) - _RESERVED_CHARACTERS
    shown, left_out = _fitting(sections, room)
    if left_out:
        noun = "entry is" if left_out == 1 else "entries are"
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
    parts = [(agent, part) for agent, group in groups for part in _parts(group)]
    return sorted(parts, key=lambda part: part[1][0].severity.rank)


def _parts(items: list[Item]) -> list[list[Item]]:
    return [items[at : at + _MOST_IN_A_SECTION] for at in range(0, len(items), _MOST_IN_A_SECTION)]


def _change_section(agent: str, changes: Sequence[ObjectChange]) -> Iterator[str]:
    whose = f"agent {escaped_code(agent)}" if agent else "no agent"
    yield ""
    yield f"<details open><summary>changes · {whose} · {count_words(changes)}</summary>"
    yield ""
    lines: list[str] = []
    for each in changes:
        lines += [each.title, *(f"{line}" for field in each.fields for line in field.lines)]
    yield escaped_diff(lines)
    places = dict.fromkeys(
        str(field.location) for each in changes for field in each.fields if field.location
    )
    if places:
        yield ""
        yield f"declared at {', '.join(map(escaped_code, places))}"
    yield ""
    yield "</details>"


def _head(report: NoticeReport) -> Iterator[str]:
    state = "✅" if report.is_complete and report.worst is None else "⚠️"
    yield f"### {state} {escape_markdown(report.title)}"
    yield ""
    if report.changes is not None:
        yield f"Changes: {count_words(report.changes) or 'none'}."
        yield ""
    yield escape_markdown(report.summary)
    for remark in report.remarks:
        yield ""
        yield escaped_code(remark)
    if report.not_checked:
        yield ""
        yield f"**Not checked** ([what to do]({report.not_checked_link})):"
        yield ""
        shown = report.not_checked[:20]
        for item in shown:
            yield f"- {escaped_code(item.scope)}: {escaped_code(item.reason)}"
        if len(report.not_checked) > len(shown):
            yield f"- and {len(report.not_checked) - len(shown)} more"


def _section(agent: str, group: Sequence[Notice], rules: dict[str, RuleText]) -> Iterator[str]:
    severity = group[0].severity
    opened = " open" if severity in (Severity.CRITICAL, Severity.HIGH) else ""
    whose = f"agent {escaped_code(agent)}" if agent else "no agent"
    yield ""
    yield f"<details{opened}><summary>{_MARKS[severity]} · {whose} · {len(group)}</summary>"
    yield ""
    yield "| what | where | details |"
    yield "|---|---|---|"
    for notice in group:
        rule = rules.get(notice.rule)
        what = f"[{notice.rule}]({rule.link})" if rule and rule.link else escaped_code(notice.rule)
        path = f"<br>{escaped_code(notice.path)}" if notice.path else ""
        place = f"<br>declared at {escaped_code(str(notice.location))}" if notice.location else ""
        facts = "<br>".join(f"{fact.label} {escaped_code(fact.text)}" for fact in notice.facts)
        yield f"| {what} | {escaped_code(str(notice.ref))}{path}{place} | {facts} |"
    yield ""
    yield "</details>"
