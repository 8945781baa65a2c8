"""A drift report as notices, with what is known beside it: places in the manifests, history."""

import hashlib
from collections.abc import Iterator
from typing import Final

from holdfast.drift.finding import DriftReport, ExpectedBy, Finding, NotChecked
from holdfast.drift.record.finding_history import finding_key
from holdfast.kube.objects import ObjectRef
from holdfast.kube.text import line_diff, safe_text, value_words
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.report.exchange.notice import Fact, Notice, NoticeReport, RuleText
from holdfast.report.text.drift_text import remarks_on, summary_line
from holdfast.report.text.finding_text import (
    GUIDES,
    NOT_CHECKED,
    actor_words,
    anchor_of,
    headline,
    path_words,
    policy_words,
    risk_words,
    runbook_link,
)

_LONGEST_VALUE_CHARACTERS: Final = 2000


def drift_notices(report: DriftReport, context: ReportContext) -> NoticeReport:
    """The report in the form that every file format writes."""
    return NoticeReport(
        title=f"Drift of stack {context.stack}" if context.stack else "Drift",
        identifier=f"drift/{context.stack}" if context.stack else "drift",
        summary=summary_line(report),
        notices=tuple(_notice(finding, context) for finding in report.findings),
        rules=tuple(
            RuleText(
                anchor_of(each),
                guide.meaning,
                guide.remedy,
                runbook_link(anchor_of(each), context.runbook),
            )
            for each, guide in GUIDES.items()
        ),
        not_checked=tuple(
            NotChecked(safe_text(item.scope), safe_text(item.reason, _LONGEST_VALUE_CHARACTERS))
            for item in report.not_checked
        ),
        observed_at=context.observed_at,
        remarks=tuple(remarks_on(report)),
        not_checked_link=runbook_link(NOT_CHECKED, context.runbook),
    )


def fingerprint_of(finding: Finding) -> str:
    """16 hexadecimal digits, equal for the same class, object and field in every scan."""
    text = f"{finding.drift_class}\n{finding_key(finding)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _notice(finding: Finding, context: ReportContext) -> Notice:
    return Notice(
        rule=anchor_of(finding.drift_class),
        severity=finding.severity,
        ref=_printable(finding.ref),
        agent=safe_text(finding.agent),
        path=path_words(finding),
        headline=headline(finding),
        facts=tuple(_facts(finding, context)),
        diff=line_diff(finding.desired, finding.live),
        location=context.location_of(finding),
        fingerprint=fingerprint_of(finding),
    )


def _printable(ref: ObjectRef) -> ObjectRef:
    """The reference, should a file (the API server never would) have given it odd names."""
    return ObjectRef(
        *(safe_text(part) for part in (ref.namespace, ref.kind, ref.name, ref.api_version))
    )


def _facts(finding: Finding, context: ReportContext) -> Iterator[Fact]:
    if finding.path:
        is_record = finding.expected_by is ExpectedBy.RECORD
        found = "recorded" if is_record else "live"
        for label, value in (("expected", finding.desired), (found, finding.live)):
            if value is not None:
                yield Fact(label, value_words(value, _LONGEST_VALUE_CHARACTERS), is_value=True)
    for actor in finding.actors:
        yield Fact("by", actor_words(actor))
    if not finding.actors:
        yield Fact("by", "unknown")
    if finding.policies:
        yield Fact("breaks", policy_words(finding))
    if risk := risk_words(finding):
        yield Fact("risk", risk)
    if history := context.history_of(finding):
        yield Fact("seen", str(history))
    if "pulumi" in finding.seen_by:
        yield Fact("seen by", "Holdfast's scan and Pulumi's refresh")
