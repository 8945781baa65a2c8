"""Notices as one HTML page that needs no network and no script."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.drift.finding import Severity
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.changes import by_agent
from holdfast.report.exchange.notice import Notice, NoticeReport, grouped_by
from holdfast.report.html.page import page

TEMPLATE: Final = "notices.html"


@dataclass(frozen=True)
class _ObjectCard:
    ref: ObjectRef
    notices: Sequence[Notice]


@dataclass(frozen=True)
class _AgentSection:
    """Everything about one agent, its worst severity first among sections."""

    agent: str
    worst: Severity
    count: int
    objects: Sequence[_ObjectCard]


def notice_page(report: NoticeReport) -> str:
    """The whole page, ending in a line end."""
    counted = Counter(each.severity for each in report.notices)
    used = {each.rule for each in report.notices}
    parts = {
        "report": report,
        "sections": _sections(report.notices),
        "counts": [(each, counted[each]) for each in Severity],
        "rules": {rule.name: rule for rule in report.rules},
        "used_rules": [rule for rule in report.rules if rule.name in used],
        "changes_by_agent": list(by_agent(report.changes or ())),
    }
    return page(TEMPLATE, parts)


def _sections(notices: Sequence[Notice]) -> list[_AgentSection]:
    by_severity = sorted(notices, key=lambda each: each.severity.rank)
    sections = [
        _AgentSection(
            agent,
            min((each.severity for each in group), key=lambda each: each.rank),
            len(group),
            [_ObjectCard(ref, about) for ref, about in grouped_by(group, lambda each: each.ref)],
        )
        for agent, group in grouped_by(by_severity, lambda each: each.agent)
    ]
    return sorted(sections, key=lambda each: (each.worst.rank, each.agent))
