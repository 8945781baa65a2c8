"""Notices as one HTML page that needs no network and no script.

Everything foreign is escaped by the template engine; the page's own policy forbids scripts and
anything from elsewhere, should that ever fail.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from holdfast import __version__
from holdfast.drift.finding import Severity
from holdfast.kube.objects import ObjectRef
from holdfast.report.changes import by_agent
from holdfast.report.notice import Notice, NoticeReport, grouped_by

TEMPLATE: Final = "notices.html"
_HEAT_MARKS: Final = {
    "refused": "✕",
    "warned": "!",
    "undetermined": "?",
    "waived": "~",
    "passed": "✓",
}
"""What a cell shows beside its colour, which not everybody sees."""


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
    environment = Environment(
        loader=PackageLoader("holdfast.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    counted = Counter(each.severity for each in report.notices)
    return environment.get_template(TEMPLATE).render(
        report=report,
        sections=_sections(report.notices),
        counts=[(each, counted[each]) for each in Severity],
        rules={rule.name: rule for rule in report.rules},
        used_rules=[
            rule for rule in report.rules if any(each.rule == rule.name for each in report.notices)
        ],
        changes_by_agent=list(by_agent(report.changes or ())),
        marks=_HEAT_MARKS,
        version=__version__,
    )


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
