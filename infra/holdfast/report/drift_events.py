"""Drift as it comes and goes: one line, one JSON document or one CloudEvent for each turn.

Everything that comes from the cluster passes `safe_text` or JSON; values are masked already.
Source: CloudEvents 1.0, JSON format.
"""

from datetime import UTC, datetime
from typing import Any, Final

import click
import msgspec

from holdfast.drift.ledger import FindingEvent, Turn
from holdfast.drift.watch_report import Look, Status, WatchState
from holdfast.kube.paths import format_path
from holdfast.report.drift_json import finding_json
from holdfast.report.drift_text import severity_colour
from holdfast.report.finding_words import actor_words, value_words
from holdfast.report.safe_text import safe_text

EVENT_SCHEMA_VERSION: Final = "holdfast.dev/drift-event/v1"
CLOUD_EVENT_TYPE: Final = "dev.holdfast.drift.finding"
_STATUS_COLOURS: Final = {Status.IN_SYNC: "green", Status.DRIFT: "red", Status.UNKNOWN: "magenta"}
_SHORTEST_SHOWN_SECONDS: Final = 10


def event_json(look: Look, event: FindingEvent, stack: str) -> dict[str, Any]:
    """One turn of one finding."""
    return {
        "schemaVersion": EVENT_SCHEMA_VERSION,
        "type": f"finding.{event.turn}",
        "id": look.identifier,
        "time": rfc3339(event.at.time),
        "stack": stack,
        "openedAt": rfc3339(event.opened.time),
        "dwellSeconds": round(event.dwell_seconds, 3),
        "finding": finding_json(event.finding),
    }


def state_json(state: WatchState, time: datetime, stack: str) -> dict[str, Any]:
    """The state of everything that is watched."""
    return {
        "schemaVersion": EVENT_SCHEMA_VERSION,
        "type": "state",
        "time": rfc3339(time),
        "stack": stack,
        "status": state.status.value,
        "findings": state.findings,
        "objects": state.objects,
        "notChecked": [{"scope": item.scope, "reason": item.reason} for item in state.not_checked],
    }


def cloud_event(look: Look, event: FindingEvent, number: int, stack: str) -> dict[str, Any]:
    """One turn of one finding, as a CloudEvent in structured mode.

    Args:
        look: The look that saw it.
        event: The turn.
        number: Of the turn within the look: the two together are unique.
        stack: Name of the stack; empty for files.
    """
    return {
        "specversion": "1.0",
        "id": f"{look.identifier}.{number}",
        "source": f"/holdfast/drift/{stack}".rstrip("/"),
        "type": f"{CLOUD_EVENT_TYPE}.{event.turn}",
        "subject": str(event.finding.ref),
        "time": rfc3339(event.at.time),
        "datacontenttype": "application/json",
        "data": event_json(look, event, stack),
    }


def event_text(event: FindingEvent, *, colour: bool = False) -> str:
    """One line: when, what became of it, how bad, where, what, who; of a closed one, how long."""
    finding = event.finding
    severity = f"{finding.severity:<8}"
    if colour:
        severity = click.style(severity, fg=severity_colour(finding.severity), bold=True)
    path = safe_text(format_path(finding.path), longest=400)
    what = f"{safe_text(str(finding.ref))}  {finding.drift_class} {path}".rstrip()
    start = f"{rfc3339(event.at.time)}  {event.turn:<7}  {severity}  {what}"
    if event.turn is Turn.CLOSED:
        return f"{start}  after {seconds_text(event.dwell_seconds)}"
    if finding.path and finding.desired is not None:
        start += f"  {value_words(finding.desired)} ->"
    if finding.path and finding.live is not None:
        start += f"  {value_words(finding.live)}"
    by = ", ".join(actor_words(actor) for actor in finding.actors) or "unknown"
    broken = f"  breaks {', '.join(finding.policies)}" if finding.policies else ""
    return f"{start}  by {by}{broken}"


def state_text(state: WatchState, time: datetime, *, colour: bool = False) -> str:
    """One line, and one more for everything that is not known."""
    status = state.status.upper()
    if colour:
        status = click.style(status, fg=_STATUS_COLOURS[state.status], bold=True)
    count = f"{state.findings} {'finding' if state.findings == 1 else 'findings'}"
    lines = [f"{rfc3339(time)}  {status}  {count}, {state.objects} objects watched"]
    lines += [
        f"    not checked: {safe_text(item.scope)}: {safe_text(item.reason)}"
        for item in state.not_checked
    ]
    return "\n".join(lines)


def phase_lines(look: Look) -> list[str]:
    """The phases of one look, in order and under one id, for the log."""
    name = safe_text(str(look.ref))
    waited = look.taken.seconds - look.heard.seconds
    judging = look.judged.seconds - look.taken.seconds
    turns = [event.turn for event in look.events]
    told = " ".join(f"{turn}={turns.count(turn)}" for turn in Turn)
    phases = (
        (look.heard, f'phase=watch id={look.identifier} object="{name}"'),
        (look.taken, f"phase=observe id={look.identifier} changes={look.changes} "
                     f"waited={waited:.3f}s"),
        (look.judged, f"phase=diff id={look.identifier} took={judging:.4f}s"),
        (look.judged, f"phase=report id={look.identifier} {told}"),
    )  # fmt: skip
    return [f"time={rfc3339(at.time)} {text}" for at, text in phases]


def seconds_text(seconds: float) -> str:
    """A length of time in a unit that suits it."""
    if seconds < _SHORTEST_SHOWN_SECONDS:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{rest} s"]
    return " ".join(part for part in parts if part)


def rfc3339(time: datetime) -> str:
    """A time in UTC with milliseconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_line(document: dict[str, Any]) -> str:
    """A document on one line."""
    return msgspec.json.encode(document).decode()
