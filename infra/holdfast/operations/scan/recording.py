"""A scan in its stack's history, and several stacks scanned and recorded in one report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.files import state_directory
from holdfast.adapters.journal.journal import JournalKind, journal_file
from holdfast.adapters.journal.scan_journal import record_scan
from holdfast.drift.cause.stack_causes import StackDrift
from holdfast.drift.finding import DriftReport, NotChecked
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.drift.scan import agents_of
from holdfast.errors import ClusterError, InputError
from holdfast.kube.workload_status import Health, HealthVerdict
from holdfast.operations.progress import Progress
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.scan.request import RecordingRequest, ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.tracing import traced_scan

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


def scan_stacks(
    requests: Sequence[ScanRequest], recording: RecordingRequest, progress: Progress
) -> list[StackDrift]:
    """Scan every stack.

    A stack whose cluster cannot be reached, or has no context here, is not checked; the others are.

    Raises:
        InputError: a stack is not declared as it should be, or one audit log is named for stacks
            on several API servers.
    """
    scanners = [Scanner(request, progress) for request in requests]
    if any(request.audit_log is not None for request in requests):
        _refuse_log_of_another_server(scanners)
    return [_traced(each, recording) for each in scanners]


def _refuse_log_of_another_server(scanners: Sequence[Scanner]) -> None:
    """Refuse one audit log for several servers: the same name there is another object.

    The users of one server would be named for the changes of another.
    """
    servers = {each.request.stack: each.cluster.client.connection.server for each in scanners}
    if len(set(servers.values())) > 1:
        where = ", ".join(f"{stack} on {server}" for stack, server in servers.items())
        raise InputError(
            f"--audit-log is of one API server, and these stacks live on several: {where}",
            remedy="name the stacks of one, or leave it out: field managers are reported anyway",
        )


def _traced(scanner: Scanner, recording: RecordingRequest) -> StackDrift:
    with traced_scan(scanner.request.stack, scanner.progress) as span:
        found = _scanned(scanner, recording)
        span.note(findings=len(found.report.drift), complete=found.report.is_complete)
    return found


def _scanned(scanner: Scanner, recording: RecordingRequest) -> StackDrift:
    stack, declared = scanner.request.stack, scanner.desired.objects
    try:
        scan = scanner.scan()
    except (ClusterError, InputError) as error:
        # The files have been read by now: what is wrong is the way to the cluster.
        unseen = NotChecked(f"stack {stack}", str(error))
        agents = agents_of(declared, DriftReport(), (), is_blind=True)
        return StackDrift(stack, DriftReport((), (unseen,), 0, agents=agents))
    record(scanner, scan, recording)
    return StackDrift(stack, scan.report, _health(scanner, scan.report))


def _health(scanner: Scanner, report: DriftReport) -> dict[str, HealthVerdict]:
    try:
        return health_of_agents(scanner.stack.context)
    except ClusterError as error:
        scanner.progress.note(f"note: stack {scanner.request.stack}: health is not known: {error}")
        unknown = HealthVerdict(Health.UNKNOWN, str(error))
        return {each.name: unknown for each in report.agents}
