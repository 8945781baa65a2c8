"""Drift as it comes and goes, as lines for people: one for each transition, and the log's phases.

Several findings with one cause are one line. Everything that comes from the cluster passes
`safe_text`; values are masked already.
"""

from datetime import UTC, datetime
from typing import Final

from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.finding import Actor, EvidenceSource, Severity
from holdfast.drift.record.ledger import FindingEvent, Timestamp, Transition
from holdfast.drift.record.watch_report import Evaluation, Status, WatchState
from holdfast.kube.paths import format_path
from holdfast.kube.scalars import format_utc
from holdfast.kube.text import counted, safe_text, value_words
from holdfast.report.text.drift_text import severity_colour
from holdfast.report.text.table import styled

_STATUS_COLOURS: Final = {Status.IN_SYNC: "green", Status.DRIFT: "red", Status.UNKNOWN: "magenta"}
_SHORTEST_SHOWN_SECONDS: Final = 10
_MOST_OBJECTS_NAMED: Final = 3


def event_text(event: FindingEvent, *, colour: bool = False) -> str:
    """One short line: time, transition, severity, place, values, author; of a closed one, how long.

    The day stands in the lines of the state; the whole finding is in the JSON.
    """
    finding = event.finding
    path = safe_text(format_path(finding.path), longest=400)
    start = _start(event.at, event.transition, finding.severity, colour=colour)
    line = f"{start}{safe_text(str(finding.ref))} {path}".rstrip()
    if event.transition is Transition.CLOSED:
        return f"{line} after {seconds_text(event.dwell_seconds)}"
    desired = value_words(finding.desired) if finding.desired is not None else ""
    live = value_words(finding.live) if finding.live is not None else ""
    if finding.path and desired and live:
        line += f": {desired} -> {live}"
    else:
        line += f" {finding.drift_class}" + (f": {live or desired}" if finding.path else "")
    by = ", ".join(_short_actor(actor) for actor in finding.actors) or "unknown"
    broken = f" breaks {', '.join(finding.policies)}" if finding.policies else ""
    return f"{line} by {by}{broken}"


def cause_text(cause: CauseEvent, *, colour: bool = False) -> str:
    """One line for many findings: their cause, how many objects, some of them by name."""
    findings = [event.finding for event in cause.events]
    what = safe_text(cause.source.words(cause.spanned_objects), longest=400)
    start = _start(cause.at, cause.transition, cause.worst_severity, colour=colour)
    line = f"{start}one cause: {what}"
    if cause.transition is Transition.CLOSED:
        return f"{line} after {seconds_text(cause.dwell_seconds)}"
    names = sorted({f"{each.ref.namespace}/{each.ref.name}".strip("/") for each in findings})
    more = len(names) - _MOST_OBJECTS_NAMED
    shown = ", ".join(names[:_MOST_OBJECTS_NAMED]) + (f" and {more} more" if more > 0 else "")
    values = {value_words(each.live) for each in findings if each.path and each.live is not None}
    value = f"  {values.pop()}" if len(values) == 1 else ""
    broken = sorted({rule for each in findings for rule in each.policies})
    breaks = f"  breaks {safe_text(', '.join(broken))}" if broken else ""
    return f"{line}{value}: {safe_text(shown, longest=400)}{breaks}"


def _start(at: Timestamp, turn: Transition, severity: Severity | None, *, colour: bool) -> str:
    shown = _severity_text(severity, colour=colour) if severity else " " * 8
    return f"{at.time.astimezone(UTC):%H:%M:%SZ} {turn:<7} {shown} "


def _short_actor(actor: Actor) -> str:
    """Who, through which client; says so when only the client's own word stands behind it."""
    user, manager = safe_text(actor.user), safe_text(actor.manager)
    who = f"{user} ({manager})" if user and manager else user or manager
    return who if actor.source is EvidenceSource.AUDIT else f"{who}, no audit entry"


def _severity_text(severity: Severity, *, colour: bool) -> str:
    text = f"{severity:<8}"
    return styled(text, severity_colour(severity), colour=colour)


def state_text(state: WatchState, time: datetime, *, colour: bool = False) -> str:
    """One line, and one more for everything that is not known."""
    status = styled(state.status.upper(), _STATUS_COLOURS[state.status], colour=colour)
    count = f"{counted(state.findings, 'finding')}, {counted(state.objects, 'object')} watched"
    lines = [f"{rfc3339(time)}  {status}  {count}"]
    lines += [
        f"    not checked: {safe_text(item.scope)}: {safe_text(item.reason)}"
        for item in state.not_checked
    ]
    return "\n".join(lines)


def phase_lines(evaluation: Evaluation) -> list[str]:
    """The phases of one evaluation, in order and under one id, for the log."""
    first, started, finished = (
        evaluation.first_event_at,
        evaluation.started_at,
        evaluation.finished_at,
    )
    identifier = f"id={evaluation.identifier}"
    name = safe_text(str(evaluation.ref))
    transitions = [event.transition for event in evaluation.events]
    found = " ".join(f"{each}={transitions.count(each)}" for each in Transition)
    waited = f"changes={evaluation.changes} waited={started.seconds - first.seconds:.3f}s"
    phases = (
        (first, f'phase=watch {identifier} object="{name}"'),
        (started, f"phase=observe {identifier} {waited}"),
        (finished, f"phase=diff {identifier} took={finished.seconds - started.seconds:.4f}s"),
        (finished, f"phase=report {identifier} {found}"),
    )
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
    return format_utc(time, "milliseconds")
