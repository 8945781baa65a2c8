"""`holdfast drift` without remediation: one scan, several, or a watch; and their reports."""

from dataclasses import replace
from pathlib import Path

from holdfast.adapters.tracing.spans import Span
from holdfast.cli.drift.options import Compared, DriftOptions
from holdfast.cli.options.progress import TerminalProgress
from holdfast.cli.options.report import ReportRequest, write_all, write_reports
from holdfast.drift.cause.stack_causes import StackDrift
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.recording import record
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.scan.tracing import traced_scan
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.stacks_json import stacks_json
from holdfast.report.text.stacks_text import stacks_text


def run(asked: DriftOptions) -> int:
    """Scan or watch as asked; the exit code."""
    if len(asked.compared.stacks) > 1:
        return _several(asked)
    request = request_of(asked.compared)
    if asked.watching is not None:
        from holdfast.controllers.watch.drift_watch import watch  # noqa: PLC0415  (one way of asking)

        # For days in one process: what is cached depends on the code as it lies on the disk.
        fresh = replace(request, use_cache=False)
        return watch(fresh, asked.watching, asked.report.output, TerminalProgress())
    progress = TerminalProgress()
    with traced_scan(request.stack, progress) as span:
        scanner = Scanner(request, progress)
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
        recording.sightings,
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


def _several(asked: DriftOptions) -> ExitCode:
    from holdfast.operations.scan.several_stacks import scan_stacks  # noqa: PLC0415  (the models)

    _refuse_options_of_one(asked)
    requests = [request_of(asked.compared, stack) for stack in asked.compared.stacks]
    scanned = scan_stacks(requests, asked.recording, TerminalProgress())
    _write_stacks(scanned, asked.report)
    if not all(each.report.is_complete for each in scanned):
        return ExitCode.ERROR
    return ExitCode.DRIFT if any(each.report.drift for each in scanned) else ExitCode.OK


def _write_stacks(scanned: list[StackDrift], wanted: ReportRequest) -> None:
    def written(chosen: str, *, colour: bool) -> str:
        return stacks_json(scanned) if chosen == "json" else stacks_text(scanned, colour=colour)

    write_all(written, wanted)


def _refuse_options_of_one(asked: DriftOptions) -> None:
    """Refuse what has no meaning for several stacks, before anything is read."""
    compared = asked.compared
    twice = next((each for each in compared.stacks if compared.stacks.count(each) > 1), None)
    if twice is not None:
        raise InputError(f"stack {twice} is named twice", remedy="name each stack once")
    given: dict[str, Path | str | None] = {
        "--live": compared.live,
        "--baseline": compared.baseline,
        "--kubeconfig": compared.kubeconfig,
        "--context": compared.context,
        "--history": asked.recording.file,
    }
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} is of one stack at a time: name one")
    formats = {asked.report.output, *(chosen for chosen, _ in asked.report.files)}
    for chosen in sorted(formats - {"text", "json"}):
        raise InputError(
            f"several stacks are told as text or json, not as {chosen}",
            remedy=f"run `holdfast drift -s {compared.stacks[0]} -o {chosen}` for each",
        )
