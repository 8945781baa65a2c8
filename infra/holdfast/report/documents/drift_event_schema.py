"""The JSON Schema of what `holdfast drift --watch` tells, published in docs/schema/."""

from typing import Any

from holdfast.drift.record.ledger import Turn
from holdfast.drift.record.watch_report import Status
from holdfast.report.documents.drift_events import EVENT_SCHEMA_VERSION
from holdfast.report.documents.drift_schema import drift_finding_schema
from holdfast.report.documents.schema_parts import (
    COUNT,
    DIALECT,
    TEXT,
    closed,
    described,
    kube_object,
    listed,
)


def drift_event_schema() -> dict[str, Any]:
    """The schema (2020-12) of one event: of a finding, of a cause, or the state of everything."""
    return {
        "$schema": DIALECT,
        "title": "Holdfast drift event",
        "description": "A line of `holdfast drift --watch -o json`, and the `data` of a CloudEvent "
        "that `--webhook` sends.",
        "oneOf": [_finding(), _cause(), _state()],
    }


def _finding() -> dict[str, Any]:
    return _event(
        **_turn_of("finding", "The look that saw it, as in the log."),
        finding=drift_finding_schema(),
    )


def _cause() -> dict[str, Any]:
    turned = closed(
        type={"enum": [f"finding.{turn}" for turn in Turn]}, object=kube_object(), path=TEXT
    )
    return _event(
        **_turn_of("cause", "Of this turn."),
        summary=described("What one hand did."),
        objects={**COUNT, "description": "How many objects it spans now."},
        findings=listed("Turns that are news; each is told by itself as well.", turned),
    )


def _state() -> dict[str, Any]:
    return _event(
        type={"const": "state"},
        status={"enum": [status.value for status in Status]},
        findings={**COUNT, "description": "Open findings that count as drift."},
        objects={**COUNT, "description": "Declared objects that are watched."},
        notChecked=listed("What cannot be seen now, and why.", closed(scope=TEXT, reason=TEXT)),
    )


def _turn_of(what: str, identifier: str) -> dict[str, Any]:
    return {
        "type": {"enum": [f"{what}.{turn}" for turn in Turn]},
        "id": described(identifier),
        "openedAt": {**TEXT, "format": "date-time", "description": "RFC 3339, UTC."},
        "dwellSeconds": {"type": "number", "minimum": 0, "description": "Open for so long."},
    }


def _event(**parts: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON Schema)
    return closed(
        schemaVersion={"const": EVENT_SCHEMA_VERSION},
        time={**TEXT, "format": "date-time", "description": "When, RFC 3339, UTC."},
        stack=described("Name of the stack; empty for files."),
        **parts,
    )
