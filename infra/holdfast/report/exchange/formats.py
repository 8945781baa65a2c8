"""The formats in which drift can be reported, by the word that chooses each."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from holdfast.drift.finding import DriftReport
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.report.documents.drift import drift_json
from holdfast.report.text.drift_text import drift_text

if TYPE_CHECKING:
    from holdfast.report.exchange.notice import NoticeReport

NOTICE_WRITERS: Final[Mapping[str, tuple[str, str]]] = {
    "junit": ("exchange.junit", "junit"),
    "sarif": ("exchange.sarif", "sarif"),
    "markdown": ("exchange.markdown", "markdown"),
    "html": ("html.notice_page", "notice_page"),
    "github": ("exchange.annotations", "github_annotations"),
    "gitlab": ("exchange.annotations", "code_quality"),
    "openreports": ("exchange.openreports", "openreports"),
}
"""Module and function of each format of notices: a scan that prints text loads none of them."""

DRIFT_FORMATS: Final = ("text", "json", *NOTICE_WRITERS, "prometheus")
"""Formats of a drift report."""


def write_notices(report: "NoticeReport", chosen: str) -> str:
    """Notices, of drift as of policy violations, in one of the formats of `NOTICE_WRITERS`."""
    module, function = NOTICE_WRITERS[chosen]
    written = getattr(import_module(f"holdfast.report.{module}"), function)(report)
    assert isinstance(written, str)  # noqa: S101  (every writer of the table returns text)
    return written


def write_drift(
    report: DriftReport, chosen: str, context: DriftContext, *, colour: bool = False
) -> str:
    """A drift report in one format, ending in a line end (formats of lines may be empty).

    Args:
        report: What a scan says.
        chosen: One of `DRIFT_FORMATS`.
        context: What is known beside it.
        colour: Whether text is for a terminal that wants colour.
    """
    if chosen == "text":
        return drift_text(report, colour=colour, history_of=context.history_of)
    if chosen == "json":
        return drift_json(report)
    if chosen == "prometheus":
        from holdfast.report.exchange.prometheus_text import prometheus_text  # noqa: PLC0415  (start-up)

        return prometheus_text(report, context)
    from holdfast.report.exchange.drift_notices import drift_notices  # noqa: PLC0415  (as above)

    return write_notices(drift_notices(report, context), chosen)
