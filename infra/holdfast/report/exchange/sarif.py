"""Notices as SARIF 2.1.0, the format of code scanning services and editors.

Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0.
"""

from typing import Any, Final
from urllib.parse import quote

from holdfast import __version__
from holdfast.drift.finding import Severity
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.notice import Notice, NoticeReport, RuleText

SCHEMA_ADDRESS: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "none",
}
_SCORES: Final = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "2.0",
    Severity.INFO: "0.0",
}
"""What code scanning sorts by, in its own scale of 0 to 10."""


def sarif(report: NoticeReport) -> str:
    """The whole report, one document, ending in a line end.

    A notice that no file declares has a logical location only; what could not be checked is a
    notification, and the run then did not succeed.
    """
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "Holdfast",
                "version": __version__,
                "rules": [_rule(rule) for rule in report.rules],
            }
        },
        "automationDetails": {"id": f"holdfast/{report.identifier}/"},
        "invocations": [_invocation(report)],
        "results": [_result(notice) for notice in report.notices],
        "columnKind": "unicodeCodePoints",
    }
    document = {"$schema": SCHEMA_ADDRESS, "version": "2.1.0", "runs": [run]}
    return json_text(document)


def _rule(rule: RuleText) -> dict[str, Any]:
    text = f"{rule.meaning[:1].upper()}{rule.meaning[1:]}."
    described: dict[str, Any] = {
        "id": rule.name,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": text},
        "fullDescription": {"text": f"{text} {rule.reason}".rstrip()},
        "help": {
            "text": f"{rule.remedy} See {rule.link}",
            "markdown": f"{rule.remedy} [More]({rule.link})",
        },
    }
    if rule.severity is not None:
        # Code scanning sorts by the rule's, not by the result's.
        described["defaultConfiguration"] = {"level": _LEVELS[rule.severity]}
        described["properties"] = {
            "tags": ["security"],
            "security-severity": _SCORES[rule.severity],
        }
    # The format wants an absolute address; a path inside the project stands in the help text.
    address = rule.link if "://" in rule.link else rule.source
    return described | ({"helpUri": address} if address else {})


def _invocation(report: NoticeReport) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": report.is_complete}
    if report.observed_at:
        invocation["endTimeUtc"] = report.observed_at
    if report.not_checked:
        invocation["toolExecutionNotifications"] = [
            {
                "level": "error",
                "message": {"text": _without_links(f"not checked: {item.scope}: {item.reason}")},
            }
            for item in report.not_checked
        ]
    return invocation


def _result(notice: Notice) -> dict[str, Any]:
    facts = "".join(f"\n{fact.label}: {fact.text}" for fact in notice.facts)
    location: dict[str, Any] = {
        "logicalLocations": [
            {"fullyQualifiedName": notice.subject, "name": notice.ref.name, "kind": "resource"}
        ]
    }
    if notice.location is not None:
        location["physicalLocation"] = _physical(notice)
    return {
        "ruleId": notice.rule,
        "level": _LEVELS[notice.annotation_severity],
        "kind": "fail" if notice.is_finding else "informational",
        "message": {"text": _without_links(f"{notice.ref}: {notice.headline}{facts}")},
        "locations": [location],
        "partialFingerprints": {"holdfast/v1": notice.fingerprint},
        "properties": {
            "severity": notice.severity.value,
            "security-severity": _SCORES[notice.severity],
            "agent": notice.agent,
        },
    }


def _physical(notice: Notice) -> dict[str, Any]:
    place = notice.location
    assert place is not None  # noqa: S101  (the caller has looked)
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(place.file)}}
    if place.line:
        # Code scanning wants all four; what is known is where a value's key begins.
        column = (
            {"startColumn": place.column, "endColumn": place.column + 1} if place.column else {}
        )
        physical["region"] = {"startLine": place.line, "endLine": place.line, **column}
    return physical


def _without_links(text: str) -> str:
    """Text in which no reader finds the format's own links, `[text](address)`."""
    return text.replace("](", "] (")
