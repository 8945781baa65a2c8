"""The drift of a stack over time as JSON, `holdfast.dev/drift-history/v1`."""

from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.drift.finding import DriftClass, DriftReport, Severity
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.kube.paths import format_path
from holdfast.operations.describe.history import HistoryReport
from holdfast.report.documents.drift import DriftDocument, FindingPlacePart, drift_document
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.parts import Count, ObjectPart, Part, schema_of

SCHEMA_VERSION: Final = "holdfast.dev/drift-history/v1"


def broken_rules(report: DriftReport) -> dict[str, list[str]]:
    """Rule to the objects that broke it and should not."""
    broken: dict[str, set[str]] = {}
    for finding in report.findings:
        for rule in finding.policies:
            broken.setdefault(rule, set()).add(str(finding.ref))
    return {rule: sorted(broken[rule]) for rule in sorted(broken)}


class FindingHistoryPart(Part):
    """The history of one field of one object.

    Attributes:
        path: As in the report.
        policies: Rules that it breaks.
        open: No complete scan since has not reported it.
        first_seen: First scan that ever reported it.
        since: Scan that began the present spell.
        last_seen: Last scan that reported it.
        count: How many scans have reported it.
    """

    object: ObjectPart
    path: str
    class_: DriftClass = msgspec.field(name="class")
    severity: Severity
    policies: list[str]
    open: bool
    first_seen: str
    since: str
    last_seen: str
    count: Count
    age_seconds: Count

    @classmethod
    def of(cls, history: FindingHistory) -> "FindingHistoryPart":
        """A history as data."""
        finding = history.finding
        return cls(
            ObjectPart.copy_of(finding.ref),
            format_path(finding.path),
            finding.drift_class,
            finding.severity,
            list(finding.policies),
            history.is_open,
            history.first_seen,
            history.since,
            history.last_seen,
            history.count,
            history.age_seconds,
        )


class AlertPart(Part):
    """Low findings that add up.

    Attributes:
        raised_at: RFC 3339.
        findings: Which were open then.
    """

    raised_at: str
    findings: list[FindingPlacePart]


class HistoryDocument(Part, kw_only=True):
    """What `holdfast history --scans -o json` prints.

    Attributes:
        broken_rules: With --at: rule to the objects that newly broke it.
        configuration: With --at: every object as that scan saw it, masked.
        stack: Name of the stack; empty for a file of one's own.
        scans: How many scans there were up to the moment asked for.
        observed_at: Time of the last of them, RFC 3339.
        objects_checked: By the last scan.
        findings: Every finding that is remembered, what is open first.
        alerts: Raised by low findings that add up, oldest first.
    """

    broken_rules: dict[str, list[str]] | UnsetType = UNSET
    configuration: list[dict[str, Any]] | UnsetType = UNSET
    schema_version: Literal["holdfast.dev/drift-history/v1"]
    stack: str
    scans: Count
    observed_at: str
    objects_checked: int | None
    report: DriftDocument
    findings: list[FindingHistoryPart]
    alerts: list[AlertPart]


def history_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return schema_of(
        "Holdfast drift history", "What `holdfast history --scans -o json` prints.", HistoryDocument
    )


def history_json(report: HistoryReport) -> str:
    """One document: the last scan as it was reported, every history, every alert.

    For a moment that was asked for also the rules that were broken, and every object as it was.
    """
    last = report.last
    configuration = None if report.configuration is None else list(report.configuration)
    return json_text(
        HistoryDocument(
            broken_rules=UNSET if configuration is None else broken_rules(last.report),
            configuration=UNSET if configuration is None else configuration,
            schema_version=SCHEMA_VERSION,
            stack=report.stack,
            scans=report.scans,
            observed_at=last.observed_at,
            objects_checked=last.report.objects_checked,
            report=drift_document(last.report),
            findings=[FindingHistoryPart.of(each) for each in report.in_order],
            alerts=[
                AlertPart(each.raised_at, [FindingPlacePart.of(one) for one in each.findings])
                for each in report.alerts
            ],
        )
    )
