"""What a scan leaves in its stack's history, and what the history adds to its report. Wiring."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.adapters.clock import utc_now
from holdfast.drift.record.sightings import finding_key
from holdfast.operations.scan.scan_context import DriftContext

if TYPE_CHECKING:
    from holdfast.operations.scan.sources import Scan

DEFAULT_ALERT_THRESHOLD = 5
_MOST_LINES_NAMED = 5


@dataclass(frozen=True)
class HistoryRequest:
    """Whether and where a scan is recorded.

    Attributes:
        file: Instead of the stack's own; None for that one.
        is_off: Record nothing.
        observed_at: RFC 3339 time of the scan; None for now.
        alert_threshold: How many low findings together raise an alert.
    """

    file: Path | None = None
    is_off: bool = False
    observed_at: str | None = None
    alert_threshold: int = DEFAULT_ALERT_THRESHOLD


def default_history_file(stack: str) -> Path:
    """Where the scans of a stack of this project are kept."""
    from holdfast.adapters.engine.folders import state_directory  # noqa: PLC0415  (as above)
    from holdfast.adapters.engine.project import read_project  # noqa: PLC0415  (as above)
    from holdfast.adapters.journal.names import JournalKind, journal_file  # noqa: PLC0415  (as above)
    from holdfast.operations.stack.project import find_project_root  # noqa: PLC0415  (files need no project)

    project = read_project(find_project_root()).name
    return journal_file(state_directory(), project, stack, JournalKind.SCANS)


def damage_note(file: Path, lines: Sequence[int]) -> str:
    """What to tell of lines that hold no scan."""
    numbers = ", ".join(str(number) for number in lines[:_MOST_LINES_NAMED])
    numbers += ", …" if len(lines) > _MOST_LINES_NAMED else ""
    return f"note: {file}: skipped line {numbers}: no scan"


def with_history(context: DriftContext, scan: "Scan", wanted: HistoryRequest) -> DriftContext:
    """Record a scan, say what has added up, and let its report say since when things are so.

    Plain files are recorded only where `--history` says so.

    Raises:
        JournalError: the history cannot be written.
    """
    context = replace(context, observed_at=wanted.observed_at or utc_now())
    if wanted.is_off or not (wanted.file or context.stack):
        return context
    from holdfast.adapters.journal.scan_journal import record_scan  # noqa: PLC0415  (start-up)

    file = wanted.file or default_history_file(context.stack)
    recorded = record_scan(file, context.observed_at, scan.report, list(scan.desired.values()))
    if recorded.damaged_lines:
        click.echo(damage_note(file, recorded.damaged_lines), err=True)
    if recorded.raises_alert(wanted.alert_threshold):
        count = recorded.low_now
        click.echo(f"alert: {count} low findings are open; together they are not small", err=True)
    return replace(
        context, sighting_of=lambda finding: recorded.sightings.get(finding_key(finding))
    )
