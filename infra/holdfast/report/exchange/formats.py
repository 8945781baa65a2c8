"""The formats in which drift, policy and fleets are reported, by the word that chooses each.

What writes a format is loaded when it is chosen: a scan that prints text needs none of the others.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from holdfast.drift.finding import DriftReport
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.report.documents.drift import drift_json
from holdfast.report.text.drift_text import drift_text
from holdfast.report.text.finding_text import finding_name
from holdfast.report.text.listed import LIST_FORMATS, listed, yaml_of

if TYPE_CHECKING:
    from holdfast.operations.describe.fleet import FleetReport
    from holdfast.operations.policy.model import PolicyReport
    from holdfast.report.exchange.notice import NoticeReport
    from holdfast.report.exchange.policy_notices import DescribedRule

NOTICE_WRITERS: Final[Mapping[str, str]] = {
    "junit": "exchange.junit:junit",
    "sarif": "exchange.sarif:sarif",
    "markdown": "exchange.markdown:markdown",
    "html": "html.page:notice_page",
    "github": "exchange.annotations:github_annotations",
    "gitlab": "exchange.annotations:code_quality",
    "openreports": "exchange.openreports:openreports",
}
"""Module and function of each format of notices."""

DRIFT_FORMATS: Final = (*LIST_FORMATS, *NOTICE_WRITERS, "prometheus")
PUBLIC_FORMATS: Final = frozenset({"markdown", "github", "gitlab"})
"""Formats of comments, issues and annotations, which may be public."""
POLICY_FORMATS: Final = ("text", "json", "yaml", *NOTICE_WRITERS, "prometheus", "oscal")
FLEET_FORMATS: Final = ("text", "json", "html")

_FLEET_WRITERS: Final = {
    "text": "text.fleet_summary:fleet_text",
    "json": "documents.fleet:fleet_json",
    "html": "html.fleet_page:fleet_page",
}


def _load(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"holdfast.report.{module}"), function)
    return found


def _written(name: str, *arguments: object, **options: object) -> str:
    text: str = _load(name)(*arguments, **options)
    return text


def write_notices(report: "NoticeReport", chosen: str) -> str:
    """Notices, of drift as of policy violations, in one of the formats of `NOTICE_WRITERS`."""
    return _written(NOTICE_WRITERS[chosen], report)


def write_drift(
    report: DriftReport, chosen: str, context: ReportContext, *, colour: bool = False
) -> str:
    """A drift report in one format, ending in a line end (formats of lines may be empty).

    Args:
        report: What a scan says.
        chosen: One of `DRIFT_FORMATS`.
        context: What is known beside it.
        colour: Whether text is for a terminal that wants colour.
    """
    if chosen in LIST_FORMATS:
        return listed(
            chosen,
            text=lambda: drift_text(report, colour=colour, history_of=context.history_of),
            document=lambda: drift_json(report),
            names=map(finding_name, report.findings),
        )
    if chosen == "prometheus":
        return _written("exchange.prometheus:prometheus_text", report, context)
    return write_notices(_load("exchange.drift_notices:drift_notices")(report, context), chosen)


def write_policy(
    report: "PolicyReport",
    chosen: str,
    rules: "Sequence[DescribedRule]",
    *,
    pages: str,
    colour: bool = False,
) -> str:
    """A policy report in one format, ending in a line end (formats of lines may be empty).

    Args:
        report: What the rules said.
        chosen: One of `POLICY_FORMATS`.
        rules: Every rule that findings may name.
        pages: Address of the pages about the rules, for links.
        colour: Whether text is for a terminal that wants colour.
    """
    if chosen == "text":
        return _written("text.policy_text:policy_text", report, colour=colour)
    if chosen == "json":
        return _written("documents.policy:policy_json", report)
    if chosen == "yaml":
        return yaml_of(_written("documents.policy:policy_json", report))
    if chosen == "prometheus":
        return _written("exchange.prometheus:policy_metrics", report)
    if chosen == "oscal":
        return _written("exchange.oscal:oscal", report, rules)
    notices = _load("exchange.policy_notices:policy_notices")(report, rules, pages)
    return write_notices(notices, chosen)


def write_fleet(report: "FleetReport", chosen: str) -> str:
    """A fleet in one of `FLEET_FORMATS`, ending in a line end."""
    return _written(_FLEET_WRITERS[chosen], report)
