"""The drift report for people: grouped by object, each finding with who, when and which rule.

Everything that comes from the cluster passes `safe_text`.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

import click
import msgspec

from holdfast.drift.finding import (
    Actor,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    Layer,
    Severity,
)
from holdfast.kube.paths import format_path
from holdfast.report.safe_text import safe_text

_COLOURS: Final = {
    Severity.CRITICAL: "red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
    Severity.INFO: "bright_black",
}
_EXPECTED: Final = {
    ExpectedBy.DECLARATION: "declared",
    ExpectedBy.DEFAULT: "default",
    ExpectedBy.BASELINE: "before",
    ExpectedBy.SERVER: "before",
    ExpectedBy.RECORD: "updated",
    ExpectedBy.NOBODY: "",
}
_INDENT: Final = " " * 12


def drift_text(report: DriftReport, *, colour: bool = False) -> str:
    """The whole report, ending in a line end."""
    lines: list[str] = []
    for _, group in groupby(report.findings, key=lambda finding: finding.ref):
        lines += [*_object_lines(list(group), colour=colour), ""]
    for item in report.not_checked:
        mark = _styled("NOT CHECKED", "magenta", colour=colour)
        lines.append(f"{mark}  {safe_text(item.scope)}: {safe_text(item.reason)}")
    if report.not_checked:
        lines.append("")
    lines += [*(_layer_line(layer) for layer in report.layers), summary_line(report)]
    return "\n".join(lines) + "\n"


def _layer_line(layer: Layer) -> str:
    asked = "ran" if layer.has_run else "not asked"
    return f"layer {layer.name}: {asked}: {safe_text(layer.detail, longest=400)}"


def summary_line(report: DriftReport) -> str:
    """One line: how many findings, where, how bad, and whether everything was looked at."""
    counted = Counter(finding.severity for finding in report.drift)
    remarks = len(report.findings) - len(report.drift)
    objects = len({finding.ref for finding in report.drift})
    checked = f"{report.objects_checked} {_plural(report.objects_checked, 'object')} checked"
    if not counted:
        state = "in sync" if report.is_complete else "no drift seen"
    else:
        levels = ", ".join(f"{counted[each]} {each}" for each in Severity if counted[each])
        total = counted.total()
        state = f"{total} {_plural(total, 'finding')} in {objects} {_plural(objects, 'object')}"
        state += f": {levels}"
    parts = [f"{state} ({checked})"]
    if remarks:
        parts.append(f"{remarks} {_plural(remarks, 'remark')}")
    if not report.is_complete:
        count = len(report.not_checked)
        parts.append(f"INCOMPLETE: {count} {_plural(count, 'thing')} not checked")
    return "; ".join(parts)


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def _styled(text: str, colour_name: str, *, colour: bool) -> str:
    return click.style(text, fg=colour_name, bold=True) if colour else text


def severity_colour(severity: Severity) -> str:
    """Colour of a severity on a terminal."""
    return _COLOURS[severity]


def _object_lines(findings: list[Finding], *, colour: bool) -> Iterator[str]:
    first = findings[0]
    agent = f"  (agent {safe_text(first.agent)})" if first.agent else ""
    title = safe_text(str(first.ref))
    yield (click.style(title, bold=True) if colour else title) + agent
    for finding in findings:
        severity = _styled(f"{finding.severity:<8}", _COLOURS[finding.severity], colour=colour)
        path = safe_text(format_path(finding.path), longest=400)
        yield f"  {severity}  {finding.drift_class:<8} {path}".rstrip()
        yield from (f"{_INDENT}{line}" for line in _detail_lines(finding))


def _detail_lines(finding: Finding) -> Iterator[str]:
    if finding.path:
        if finding.desired is not None:
            yield f"{_EXPECTED[finding.expected_by]:<9}{value_text(finding.desired)}"
        if finding.live is not None:
            found = "recorded" if finding.expected_by is ExpectedBy.RECORD else "live"
            yield f"{found:<9}{value_text(finding.live)}"
    for actor in finding.actors:
        yield f"{'by':<9}{actor_text(actor)}"
    if not finding.actors:
        yield f"{'by':<9}unknown"
    if finding.seen_by != ("holdfast",):
        yield f"{'seen by':<9}{', '.join(finding.seen_by)}"
    if finding.policies:
        yield f"{'breaks':<9}{', '.join(finding.policies)}"


def value_text(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """A value on one line, shortened."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return safe_text(text)


def actor_text(actor: Actor) -> str:
    """Who, with what, when, and whether an audit log proves it."""
    operation = f" {actor.operation}" if actor.operation else ""
    via = f" of {actor.subresource}" if actor.subresource else ""
    manager = f"{safe_text(actor.manager)}{operation}{via}" if actor.manager else ""
    known = actor.source is EvidenceSource.AUDIT
    who = safe_text(actor.user) if actor.user else ""
    parts = [part for part in (who, manager, actor.time) if part]
    return ", ".join(parts) + ("" if known else " (no audit entry)")
