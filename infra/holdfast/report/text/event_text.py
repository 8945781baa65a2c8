"""Drift as it comes and goes, as lines for people: one for each turn, and the log's phases.

Several findings that one hand explains are one line. Everything that comes from the cluster passes
`safe_text`; values are masked already.
"""

from datetime import datetime
from typing import Final

from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.finding import Severity
from holdfast.drift.record.ledger import FindingEvent, Transition
from holdfast.drift.record.watch_report import Look, Status, WatchState
from holdfast.kube.paths import format_path
from holdfast.kube.scalars import format_utc
from holdfast.kube.text import counted, safe_text, value_words
from holdfast.report.text.drift_text import severity_colour
from holdfast.report.text.finding_text import actor_words
from holdfast.report.text.table import styled

_STATUS_COLOURS: Final = {Status.IN_SYNC: "green", Status.DRIFT: "red", Status.UNKNOWN: "magenta"}
_SHORTEST_SHOWN_SECONDS: Final = 10
_MOST_OBJECTS_NAMED: Final = 3


def event_text(event: FindingEvent, *, colour: bool = False) -> str:
    """One line: when, what became of it, how bad, where, what, who; of a closed one, how long."""
    finding = event.finding
    severity = _severity_text(finding.severity, colour=colour)
    path = safe_text(format_path(finding.path), longest=400)
    what = f"{safe_text(str(finding.ref))}  {finding.drift_class} {path}".rstrip()
    start = f"{rfc3339(event.at.time)}  {event.transition:<7}  {severity}  {what}"
    if event.transition is Transition.CLOSED:
        return f"{start}  after {seconds_text(event.dwell_seconds)}"
    if finding.path and finding.desired is not None:
        start += f"  {value_words(finding.desired)} ->"
    if finding.path and finding.live is not None:
        start += f"  {value_words(finding.live)}"
    by = ", ".join(actor_words(actor) for actor in finding.actors) or "unknown"
    broken = f"  breaks {', '.join(finding.policies)}" if finding.policies else ""
    return f"{start}  by {by}{broken}"


def cause_text(cause: CauseEvent, *, colour: bool = False) -> str:
    """One line for many findings: what one hand did, to how many objects, some of them by name."""
    findings = [event.finding for event in cause.events]
    worst = min((each.severity for each in findings), key=lambda each: each.rank, default=None)
    severity = _severity_text(worst, colour=colour) if worst else " " * 8
    spanned = cause.objects or len({each.ref for each in findings})
    what = safe_text(cause.source.words(spanned), longest=400)
    line = f"{rfc3339(cause.at.time)}  {cause.transition:<7}  {severity}  one cause: {what}"
    if cause.transition is Transition.CLOSED:
        return f"{line}  after {seconds_text(cause.dwell_seconds)}"
    names = sorted({f"{each.ref.namespace}/{each.ref.name}".strip("/") for each in findings})
    more = len(names) - _MOST_OBJECTS_NAMED
    shown = ", ".join(names[:_MOST_OBJECTS_NAMED]) + (f" and {more} more" if more > 0 else "")
    values = {value_words(each.live) for each in findings if each.path and each.live is not None}
    value = f"  {values.pop()}" if len(values) == 1 else ""
    broken = sorted({rule for each in findings for rule in each.policies})
    breaks = f"  breaks {safe_text(', '.join(broken))}" if broken else ""
    return f"{line}{value}: {safe_text(shown, longest=400)}{breaks}"


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


def phase_lines(look: Look) -> list[str]:
    """The phases of one look, in order and under one id, for the log."""
    name = safe_text(str(look.ref))
    waited = look.taken.seconds - look.heard.seconds
    judging = look.judged.seconds - look.taken.seconds
    turns = [event.transition for event in look.events]
    told = " ".join(f"{turn}={turns.count(turn)}" for turn in Transition)
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
    return format_utc(time, "milliseconds")
