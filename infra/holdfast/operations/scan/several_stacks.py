"""Several stacks in one report: each is scanned, recorded, and asked how its agents are."""

from collections.abc import Sequence

from holdfast.drift.cause.stack_causes import StackDrift
from holdfast.drift.finding import DriftReport, NotChecked
from holdfast.drift.scan import agents_of
from holdfast.errors import ClusterError, InputError
from holdfast.kube.workload_status import Health, HealthVerdict
from holdfast.operations.progress import Progress
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.scan.recording import record
from holdfast.operations.scan.request import RecordingRequest, ScanRequest
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.tracing import traced_scan


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
