"""Drift as it comes and goes, as data: a line of `holdfast drift watch -o json`, or a CloudEvent.

Each finding stands for itself; a common cause of several is an event of its own.
Source: CloudEvents 1.0, JSON format.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.record.ledger import FindingEvent, Transition
from holdfast.drift.record.watch_report import Evaluation, Status, WatchState
from holdfast.kube.paths import format_path
from holdfast.report.documents.drift import FindingPart, finding_parts
from holdfast.report.documents.parts import (
    Count,
    NotCheckedPart,
    ObjectPart,
    Part,
    one_of,
    schema_of,
)
from holdfast.report.text.event_text import rfc3339

EVENT_SCHEMA_VERSION: Final = "holdfast.dev/drift-event/v1"
CLOUD_EVENT_TYPE: Final = "dev.holdfast.drift"

EventTime = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
DwellSeconds = Annotated[float, Meta(ge=0)]
FindingTurn = Annotated[str, one_of(*(f"finding.{turn}" for turn in Transition))]
CauseTurn = Annotated[str, one_of(*(f"cause.{turn}" for turn in Transition))]


class FindingEventDocument(Part):
    """One turn of one finding.

    Attributes:
        id: The look that saw it, as in the log.
        time: When, RFC 3339, UTC.
        stack: Name of the stack; empty for files.
        opened_at: RFC 3339, UTC.
        dwell_seconds: Open for so long.
    """

    schema_version: Literal["holdfast.dev/drift-event/v1"]
    type: FindingTurn
    id: str
    time: EventTime
    stack: str
    opened_at: EventTime
    dwell_seconds: DwellSeconds
    finding: FindingPart


class TurnPart(Part):
    """A turn of one finding, which an event of its own has in full."""

    type: FindingTurn
    object: ObjectPart
    path: str


class CauseEventDocument(Part):
    """One turn of what is behind several findings.

    Attributes:
        id: Of this turn.
        time: When, RFC 3339, UTC.
        stack: Name of the stack; empty for files.
        opened_at: RFC 3339, UTC.
        dwell_seconds: Open for so long.
        summary: What one client did.
        objects: How many objects it spans now.
        findings: Turns that are news; each is an event by itself as well.
    """

    schema_version: Literal["holdfast.dev/drift-event/v1"]
    type: CauseTurn
    id: str
    time: EventTime
    stack: str
    opened_at: EventTime
    dwell_seconds: DwellSeconds
    summary: str
    objects: Count
    findings: list[TurnPart]


class StateEventDocument(Part):
    """The state of everything that is watched.

    Attributes:
        time: When, RFC 3339, UTC.
        stack: Name of the stack; empty for files.
        findings: Open findings that count as drift.
        objects: Declared objects that are watched.
        not_checked: What cannot be seen now, and why.
    """

    schema_version: Literal["holdfast.dev/drift-event/v1"]
    type: Literal["state"]
    time: EventTime
    stack: str
    status: Status
    findings: Count
    objects: Count
    not_checked: list[NotCheckedPart]


def drift_event_schema() -> dict[str, Any]:
    """The JSON Schema of one event: of a finding, of a cause, or the state of everything."""
    return schema_of(
        "Holdfast drift event",
        "A line of `holdfast drift watch -o json`, and the `data` of a CloudEvent that "
        "`--webhook` sends.",
        FindingEventDocument,
        CauseEventDocument,
        StateEventDocument,
    )


def event_json(evaluation: Evaluation, event: FindingEvent, stack: str) -> dict[str, Any]:
    """One turn of one finding."""
    return _plain(
        FindingEventDocument(
            EVENT_SCHEMA_VERSION,
            f"finding.{event.transition}",
            evaluation.identifier,
            rfc3339(event.at.time),
            stack,
            rfc3339(event.opened.time),
            round(event.dwell_seconds, 3),
            FindingPart(**finding_parts(event.finding)),
        )
    )


def cause_json(identifier: str, cause: CauseEvent, stack: str) -> dict[str, Any]:
    """One turn of what is behind several findings; they are events by themselves as well."""
    turns = [
        TurnPart(
            f"finding.{each.transition}",
            ObjectPart.copy_of(each.finding.ref),
            format_path(each.finding.path),
        )
        for each in cause.events
    ]
    return _plain(
        CauseEventDocument(
            EVENT_SCHEMA_VERSION,
            f"cause.{cause.transition}",
            identifier,
            rfc3339(cause.at.time),
            stack,
            rfc3339(cause.opened.time),
            round(cause.dwell_seconds, 3),
            cause.source.words(cause.objects),
            cause.objects,
            turns,
        )
    )


def state_json(state: WatchState, time: datetime, stack: str) -> dict[str, Any]:
    """The state of everything that is watched."""
    return _plain(
        StateEventDocument(
            EVENT_SCHEMA_VERSION,
            "state",
            rfc3339(time),
            stack,
            state.status,
            state.findings,
            state.objects,
            [NotCheckedPart.copy_of(each) for each in state.not_checked],
        )
    )


def cloud_event(
    evaluation: Evaluation, event: FindingEvent, number: int, stack: str
) -> dict[str, Any]:
    """One transition of one finding, as a CloudEvent in structured mode.

    Args:
        evaluation: The evaluation that found it.
        event: The transition.
        number: Of the transition within the evaluation: the two together are unique.
        stack: Name of the stack; empty for files.
    """
    data = event_json(evaluation, event, stack)
    return _cloud_event(f"{evaluation.identifier}.{number}", str(event.finding.ref), data)


def cause_cloud_event(identifier: str, cause: CauseEvent, stack: str) -> dict[str, Any]:
    """One transition of the cause of several findings, as a CloudEvent in structured mode."""
    return _cloud_event(identifier, cause.source.kind, cause_json(identifier, cause, stack))


def _cloud_event(identifier: str, subject: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": identifier,
        "source": f"/holdfast/drift/{data['stack']}".rstrip("/"),
        "type": f"{CLOUD_EVENT_TYPE}.{data['type']}",
        "subject": subject,
        "time": data["time"],
        "datacontenttype": "application/json",
        "data": data,
    }


def _plain(document: Part) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(document)
    return plain
