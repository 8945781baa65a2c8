"""A policy report as JSON: the output contract `holdfast.dev/policy/v1`."""

from typing import Any, Final

from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.changes import ObjectChange
from holdfast.operations.policy.model import PolicyFinding, PolicyReport, Verdict
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.policy_notices import fingerprint_of

SCHEMA_VERSION: Final = "holdfast.dev/policy/v1"


def policy_json(report: PolicyReport) -> str:
    """The whole report, one document, ending in a line end."""
    counts = report.counts
    document: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "title": report.title,
        "profile": report.profile,
        "complete": report.is_complete,
        "summary": {
            "objects": sum(bool(each.ref.kind) for each in report.objects),
            "passed": report.passed,
            "mandatory": sum(each.refuses for each in report.findings),
            "advisory": counts[Verdict.VIOLATED] - sum(each.refuses for each in report.findings),
            "waived": counts[Verdict.WAIVED],
            "undetermined": counts[Verdict.UNDETERMINED],
        },
        "findings": [policy_finding_json(each) for each in report.findings],
        "objects": [
            {"object": _reference(each.ref), "agent": each.agent, "passed": each.passed}
            for each in report.objects
        ],
        "notChecked": [{"scope": each.scope, "reason": each.reason} for each in report.not_checked],
        "remarks": report.remarks,
    }
    if report.changes is not None:
        document["changes"] = [_change(each) for each in report.changes]
    return json_text(document)


def _change(change: ObjectChange) -> dict[str, Any]:
    return {
        "object": _reference(change.ref),
        "agent": change.agent,
        "operation": change.operation,
        "fields": [
            {
                "path": field.path,
                "before": field.before,
                "after": field.after,
                "declaredAt": _place(field.location),
            }
            for field in change.fields
        ],
    }


def policy_finding_json(finding: PolicyFinding) -> dict[str, Any]:
    """One finding, as it stands in the report."""
    return {
        "rule": finding.rule,
        "verdict": finding.verdict.value,
        "level": finding.level,
        "severity": finding.severity.value,
        "object": _reference(finding.ref),
        "agent": finding.agent,
        "path": finding.path,
        "expected": finding.expected,
        "found": finding.found,
        "remedy": finding.remedy,
        "waiver": finding.note,
        "fingerprint": fingerprint_of(finding),
        "declaredAt": _place(finding.location),
    }


def _place(place: SourceLocation | None) -> dict[str, Any] | None:
    return {"file": place.file, "line": place.line, "column": place.column} if place else None


def _reference(ref: ObjectRef) -> dict[str, str] | None:
    """The object; None for the stack as a whole."""
    if not ref.kind:
        return None
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
    }
