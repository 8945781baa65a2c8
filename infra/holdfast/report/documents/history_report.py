"""The history of a stack's drift, as text for people and JSON for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.finding import DriftReport, Finding
from holdfast.drift.record.sightings import Alert, Observation, Sighting
from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import format_path
from holdfast.kube.safe_text import safe_text
from holdfast.report.documents.drift_json import drift_document, object_document
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.drift_text import drift_text, summary_line
from holdfast.report.text.finding_words import headline

SCHEMA_VERSION: Final = "holdfast.dev/drift-history/v1"


@dataclass(frozen=True)
class HistoryReport:
    """What is asked of a history.

    Attributes:
        stack: Name of the stack; empty for a file of one's own.
        scans: How many scans it holds up to the moment that was asked for.
        last: The last of them.
        sightings: Everything ever reported by then.
        alerts: Raised by then, oldest first.
        configuration: Every object as that scan saw it; None when it is not asked for or known.
    """

    stack: str
    scans: int
    last: Observation
    sightings: Mapping[str, Sighting]
    alerts: Sequence[Alert]
    configuration: tuple[KubeObject, ...] | None = None

    @property
    def in_order(self) -> list[Sighting]:
        """What is open first, the worst and oldest first."""
        return sorted(
            self.sightings.values(),
            key=lambda each: (not each.is_open, each.finding.severity.rank, each.since),
        )


def history_text(report: HistoryReport, *, in_full: bool, colour: bool = False) -> str:
    """One block a finding, or the last scan as it was reported; ending in a line end."""
    title = f"stack {report.stack}" if report.stack else "history"
    scans = f"{report.scans} scan{'' if report.scans == 1 else 's'}"
    head = f"{title}: {scans}, the last at {report.last.observed_at}\n\n"
    if in_full:
        return head + drift_text(report.last.report, colour=colour) + _state_text(report)
    lines = [line for each in report.in_order for line in _sighting_lines(each)]
    for alert in report.alerts:
        count = len(alert.findings)
        lines.append(f"alert at {alert.raised_at}: {count} low findings were open")
    lines.append(f"last scan: {summary_line(report.last.report)}")
    return head + "\n".join(lines) + "\n"


def _state_text(report: HistoryReport) -> str:
    """The result of the rules, and how much of the configuration is known."""
    broken = _broken_rules(report.last.report)
    lines = [
        f"{safe_text(rule)}: broken by {', '.join(safe_text(one) for one in objects)}"
        for rule, objects in broken.items()
    ]
    rules = "\n".join(["rules newly broken:", *(f"  {line}" for line in lines)])
    objects = len(report.configuration or ())
    known = f"{objects} objects; -o json prints them" if report.configuration else "not recorded"
    return f"{rules if lines else 'rules newly broken: none'}\nconfiguration: {known}\n"


def _broken_rules(report: DriftReport) -> dict[str, list[str]]:
    """Rule to the objects that broke it and should not."""
    broken: dict[str, set[str]] = {}
    for finding in report.findings:
        for rule in finding.policies:
            broken.setdefault(rule, set()).add(str(finding.ref))
    return {rule: sorted(broken[rule]) for rule in sorted(broken)}


def _sighting_lines(each: Sighting) -> Iterator[str]:
    state = "open" if each.is_open else "closed"
    finding = each.finding
    yield f"{state:<7} {finding.severity:<8} {safe_text(str(finding.ref))}"
    yield f"        {headline(finding)}"
    yield f"        seen {each}, last {each.last_seen}"
    yield ""


def history_json(report: HistoryReport) -> str:
    """One document: the last scan as it was reported, every sighting, every alert.

    For a moment that was asked for also the rules that were broken, and every object as it was.
    """
    state = {
        "brokenRules": _broken_rules(report.last.report),
        "configuration": list(report.configuration or ()),
    }
    return json_text(
        {
            **(state if report.configuration is not None else {}),
            "schemaVersion": SCHEMA_VERSION,
            "stack": report.stack,
            "scans": report.scans,
            "observedAt": report.last.observed_at,
            "objectsChecked": report.last.report.objects_checked,
            "report": drift_document(report.last.report),
            "sightings": [_sighting(each) for each in report.in_order],
            "alerts": [
                {
                    "raisedAt": alert.raised_at,
                    "findings": [_place(each) for each in alert.findings],
                }
                for alert in report.alerts
            ],
        }
    )


def _sighting(each: Sighting) -> dict[str, Any]:
    finding = each.finding
    return {
        **_place(finding),
        "class": finding.drift_class.value,
        "severity": finding.severity.value,
        "policies": list(finding.policies),
        "open": each.is_open,
        "firstSeen": each.first_seen,
        "since": each.since,
        "lastSeen": each.last_seen,
        "count": each.count,
        "ageSeconds": each.age_seconds,
    }


def _place(finding: Finding) -> dict[str, Any]:
    return {"object": object_document(finding.ref), "path": format_path(finding.path)}
