"""The JSON Schema of `holdfast drift history -o json`, published in docs/schema/."""

from typing import Any

from holdfast.drift.finding import DriftClass, Severity
from holdfast.report.documents.drift_schema import drift_schema
from holdfast.report.documents.history_report import SCHEMA_VERSION
from holdfast.report.documents.schema_parts import (
    COUNT,
    DIALECT,
    TEXT,
    closed,
    described,
    kube_object,
    listed,
)


def history_schema() -> dict[str, Any]:
    """The schema (2020-12): these keys and no others."""
    report = {key: value for key, value in drift_schema().items() if key != "$schema"}
    place = {"object": kube_object(), "path": described("As in the report.")}
    return {
        "$schema": DIALECT,
        "title": "Holdfast drift history",
        "description": "What `holdfast drift history -o json` prints.",
        **closed(
            schemaVersion={"const": SCHEMA_VERSION},
            stack=described("Name of the stack; empty for a file of one's own."),
            scans={**COUNT, "description": "How many scans it holds, up to the moment asked for."},
            observedAt=described("Time of the last of them, RFC 3339."),
            objectsChecked={"type": ["integer", "null"], "description": "By the last scan."},
            report=report,
            sightings=listed("Everything ever reported, what is open first.", _sighting(place)),
            alerts=listed(
                "Raised by low findings that add up, oldest first.",
                closed(
                    raisedAt=described("RFC 3339."),
                    findings=listed("Which were open then.", closed(**place)),
                ),
            ),
            _optional={
                "brokenRules": {
                    "type": "object",
                    "description": "With --at: rule to the objects that newly broke it.",
                    "additionalProperties": {"type": "array", "items": TEXT},
                },
                "configuration": {
                    "type": "array",
                    "description": "With --at: every object as that scan saw it, masked.",
                    "items": {"type": "object"},
                },
            },
        ),
    }


def _sighting(place: dict[str, Any]) -> dict[str, Any]:
    return closed(
        **place,
        **{"class": {"enum": [each.value for each in DriftClass]}},
        severity={"enum": [each.value for each in Severity]},
        policies=listed("Rules that it breaks.", TEXT),
        open={"type": "boolean", "description": "No complete scan since has not reported it."},
        firstSeen=described("First scan that ever reported it."),
        since=described("Scan that began the present spell."),
        lastSeen=described("Last scan that reported it."),
        count={**COUNT, "description": "How many scans have reported it."},
        ageSeconds=COUNT,
    )
