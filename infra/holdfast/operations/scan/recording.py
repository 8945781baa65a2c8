"""What a scan leaves in its stack's history, and what the history adds to its report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.files import state_directory
from holdfast.adapters.journal.journal import JournalKind, journal_file
from holdfast.adapters.journal.scan_journal import record_scan
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.operations.scan.request import RecordingRequest
from holdfast.operations.scan.scanner import Scan, Scanner

_MOST_LINES_NAMED = 5


@dataclass(frozen=True)
class Recording:
    """A scan in its history.

    Attributes:
        observed_at: RFC 3339 time of the scan.
        histories: When findings were seen, by their key; empty when nothing is recorded.
    """

    observed_at: str
    histories: Mapping[str, FindingHistory] = field(default_factory=dict)


def default_history_file(root: Path, stack: str) -> Path:
    """Where the scans of a stack of a project are kept."""
    return journal_file(state_directory(), read_project(root).name, stack, JournalKind.SCANS)


def damage_note(file: Path, lines: Sequence[int]) -> str:
    """What to say of lines that hold no scan."""
    numbers = ", ".join(str(number) for number in lines[:_MOST_LINES_NAMED])
    numbers += ", …" if len(lines) > _MOST_LINES_NAMED else ""
    return f"note: {file}: skipped line {numbers}: no scan"


def record(scanner: Scanner, scan: Scan, wanted: RecordingRequest) -> Recording:
    """Record a whole scan, and say what has added up.

    A stack's own history takes scans of that stack alone: what a file or another cluster holds
    would end every finding of the stack, and begin others. Those, and plain objects, are recorded
    only in a file that the user names.

    Args:
        scanner: That made the scan.
        scan: With all its findings.
        wanted: Whether and where it is recorded.

    Raises:
        JournalError: the history cannot be written.
    """
    observed_at = wanted.observed_at or utc_now()
    file = wanted.file
    request, progress = scanner.request, scanner.progress
    if file is None and request.stack and not wanted.is_off:
        if scanner.reads_the_stack:
            file = default_history_file(request.project_root, request.stack)
        else:
            source = f"--context {request.context}" if request.live is None else str(request.live)
            progress.note(
                f"note: not recorded: {source} is not the cluster of stack {request.stack}; "
                "--history FILE records it elsewhere"
            )
    if file is None or wanted.is_off:
        return Recording(observed_at)
    recorded = record_scan(file, observed_at, scan.report, list(scan.desired.values()))
    if recorded.damaged_lines:
        progress.note(damage_note(file, recorded.damaged_lines))
    if recorded.raises_alert(wanted.alert_threshold):
        count = recorded.low_now
        progress.step(f"alert: {count} low findings are open; together they are not small")
    return Recording(observed_at, recorded.histories)
