"""Pages that need no network and no script: what every page shares, and the page of notices.

Everything foreign is escaped by the template engine; each page's own policy forbids scripts and
anything from elsewhere, should that ever fail.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from holdfast import __version__
from holdfast.drift.finding import Severity
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.changes import by_agent
from holdfast.report.exchange.notice import Notice, NoticeReport, grouped_by

HEAT_MARKS: Final = {
    "refused": "✕",
    "drifted": "▲",
    "warned": "!",
    "undetermined": "?",
    "waived": "~",
    "passed": "✓",
}
"""What a cell of a heat map shows beside its colour, which not everybody sees."""


@cache
def _environment() -> Environment:
    """Templates, each compiled once."""
    return Environment(
        loader=PackageLoader("holdfast.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def page(
    template: str,
    parts: Mapping[str, Any],
    filters: Mapping[str, Callable[..., Any]] | None = None,
) -> str:
    """A whole page, ending in a line end.

    Args:
        template: Its file among the templates.
        parts: What the template names.
        filters: Words for values, by the name that the template uses.
    """
    environment = _environment()
    environment.filters.update(filters or {})
    found = environment.get_template(template)
    return found.render(**parts, marks=HEAT_MARKS, version=__version__)


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
