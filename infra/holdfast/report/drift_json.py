"""The drift report as JSON: the output contract `holdfast.dev/drift/v1`."""

from typing import Any, Final

import msgspec

from holdfast.drift.finding import DriftReport, ExpectedBy, Finding
from holdfast.kube.paths import format_path

SCHEMA_VERSION: Final = "holdfast.dev/drift/v1"


def drift_json(report: DriftReport) -> str:
    """The whole report, one document, ending in a line end."""
    document: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "complete": report.is_complete,
        "notChecked": [{"scope": item.scope, "reason": item.reason} for item in report.not_checked],
        "findings": [finding_json(finding) for finding in report.findings],
    }
    if report.layers:
        document["layers"] = [
            {"name": layer.name, "ran": layer.has_run, "detail": layer.detail}
            for layer in report.layers
        ]
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding, as it stands in the report."""
    ref = finding.ref
    about = {"about": "record"} if finding.expected_by is ExpectedBy.RECORD else {}
    return about | {
        "object": {
            "apiVersion": ref.api_version,
            "kind": ref.kind,
            "namespace": ref.namespace,
            "name": ref.name,
        },
        "agent": finding.agent,
        "class": finding.drift_class.value,
        "path": format_path(finding.path),
        "desired": finding.desired,
        "live": finding.live,
        "severity": finding.severity.value,
        "policies": list(finding.policies),
        "actors": [
            {
                "manager": actor.manager,
                "operation": actor.operation,
                "subresource": actor.subresource,
                "time": actor.time,
                "user": actor.user,
                "source": actor.source.value,
            }
            for actor in finding.actors
        ],
        "seenBy": list(finding.seen_by),
    }
