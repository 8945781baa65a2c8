"""`holdfast drift` without remediation: one scan and its reports."""

from holdfast.adapters.tracing.spans import Span
from holdfast.cli.drift.options import Compared, DriftOptions
from holdfast.cli.options.progress import TERMINAL
from holdfast.cli.options.report import write_reports
from holdfast.errors import ExitCode
from holdfast.operations.scan.recording import record
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.tracing import traced_scan


def detect(asked: DriftOptions) -> ExitCode:
    """Scan as asked, and report; the exit code."""
    request = request_of(asked.compared)
    with traced_scan(request.stack, TERMINAL) as span:
        scanner = Scanner(request, TERMINAL)
        scan = scanner.run(engine=asked.engine)
        if asked.probing.is_on:
            from holdfast.operations.scan.probing.run import with_probes  # noqa: PLC0415  (the models)

            scan = with_probes(scanner, scan, asked.probing)
        report(scanner, scan, asked)
        return exit_code(scan, span)


def request_of(compared: Compared, stack: str = "") -> ScanRequest:
    """The request for what is compared: a stack of the project here, or plain objects."""
    name = stack or "".join(compared.stacks)
    return ScanRequest(
        root=find_project_root() if name else None,
        stack=name,
        desired=compared.desired,
        live=compared.live,
        baseline=compared.baseline,
        kubeconfig=compared.kubeconfig,
        context=compared.context,
        audit_log=compared.audit_log,
        request_timeout_seconds=compared.request_timeout,
        ignore_file=compared.ignore_file,
        use_cache=not compared.no_cache,
    )


def report(scanner: Scanner, scan: Scan, asked: DriftOptions) -> None:
    """Record a scan, and write its reports."""
    recording = record(scanner, scan, asked.recording)
    context = DriftContext(
        scanner.request.stack,
        recording.observed_at,
        asked.report.runbook,
        scanner.desired.locations,
        recording.histories,
    )
    write_reports(scan.report, asked.report, context)


def exit_code(scan: Scan, span: Span, failures: int = 0) -> ExitCode:
    """The exit code of a scan, and its figures in its trace."""
    found = scan.report
    span.note(
        objects=found.objects_checked or 0, findings=len(found.drift), complete=found.is_complete
    )
    if failures or not found.is_complete:
        return ExitCode.ERROR
    return ExitCode.DRIFT if found.drift else ExitCode.OK
