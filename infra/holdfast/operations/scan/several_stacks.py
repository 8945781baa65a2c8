"""`holdfast drift -s A -s B`: several stacks in one report. Wiring."""

from collections.abc import Sequence
from dataclasses import replace

import click

from holdfast.cli.options.report import ReportRequest, check_files, write_all
from holdfast.drift.cause.stack_causes import StackDrift
from holdfast.drift.finding import DriftReport, NotChecked
from holdfast.drift.rollup import agents_of
from holdfast.errors import ClusterError, ExitCode, InputError
from holdfast.kube.workload_status import Health, HealthVerdict
from holdfast.operations.deploy.traced import traced_scan
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.scan.recording import HistoryRequest, with_history
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.operations.scan.sources import DriftRequest, DriftSources
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.stacks import stacks_json
from holdfast.report.text.stacks_text import stacks_text

_ONE_STACK = "of one stack at a time: name one"


def scan_stacks(
    stacks: Sequence[str], request: DriftRequest, wanted: ReportRequest, history: HistoryRequest
) -> int:
    """Scan every stack, write one report, and give the exit code.

    A stack whose cluster cannot be reached, or has no context here, is not checked; the others are.

    Raises:
        InputError: the options are of one stack, or a stack is not declared as it should be.
    """
    _refuse(stacks, request, wanted, history)
    check_files(wanted)
    sources = [DriftSources(replace(request, stack=stack)) for stack in stacks]
    if request.audit_log is not None:
        _refuse_log_of_another_server(sources)
    scanned = [_scanned(each, history) for each in sources]

    def written(chosen: str, *, colour: bool) -> str:
        return stacks_json(scanned) if chosen == "json" else stacks_text(scanned, colour=colour)

    write_all(written, wanted)
    if not all(each.report.is_complete for each in scanned):
        return ExitCode.ERROR
    return ExitCode.DRIFT if any(each.report.drift for each in scanned) else ExitCode.OK


def _refuse(
    stacks: Sequence[str], request: DriftRequest, wanted: ReportRequest, history: HistoryRequest
) -> None:
    """Refuse what has no meaning for several stacks, before anything is read."""
    twice = next((each for each in stacks if stacks.count(each) > 1), None)
    if twice is not None:
        raise InputError(f"stack {twice} is named twice", remedy="name each stack once")
    said = {
        "--desired": request.desired,
        "--live": request.live,
        "--baseline": request.baseline,
        "--kubeconfig": request.kubeconfig,
        "--context": request.context,
        "--history": history.file,
    }
    for option, value in said.items():
        if value is not None:
            raise InputError(f"{option} is {_ONE_STACK}")
    formats = {wanted.output, *(chosen for chosen, _ in wanted.files)}
    for chosen in sorted(formats - {"text", "json"}):
        raise InputError(
            f"several stacks are told as text or json, not as {chosen}",
            remedy=f"run `holdfast drift -s {stacks[0]} -o {chosen}` for each",
        )


def _refuse_log_of_another_server(sources: Sequence[DriftSources]) -> None:
    """Refuse one audit log for several servers: the same name there is another object.

    Whoever changed it on one of them would be named for the other.
    """
    lives = {each.request.stack: each.cluster.client.connection.server for each in sources}
    if len(set(lives.values())) > 1:
        where = ", ".join(f"{stack} on {server}" for stack, server in lives.items())
        raise InputError(
            f"--audit-log is of one API server, and these stacks live on several: {where}",
            remedy="name the stacks of one, or leave it out: field managers are told all the same",
        )


def _scanned(sources: DriftSources, history: HistoryRequest) -> StackDrift:
    request = sources.request
    with traced_scan(request.stack) as span:
        found = _compared(sources, history)
        span.note(findings=len(found.report.drift), complete=found.report.is_complete)
    return found


def _compared(sources: DriftSources, history: HistoryRequest) -> StackDrift:
    request, declared = sources.request, sources.desired.objects
    try:
        scan = sources.scan()
    except (ClusterError, InputError) as error:
        # The files have been read by now: what is wrong is the way to the cluster.
        unseen = NotChecked(f"stack {request.stack}", str(error))
        agents = agents_of(declared, DriftReport(), (), is_blind=True)
        return StackDrift(request.stack, DriftReport((), (unseen,), 0, agents=agents))
    # Recorded like any other scan; what has added up is told now.
    with_history(DriftContext(stack=request.stack), scan, history)
    return StackDrift(request.stack, scan.report, _health(request.stack, scan.report))


def _health(stack: str, report: DriftReport) -> dict[str, HealthVerdict]:
    try:
        return health_of_agents(find_project_root(), stack)
    except ClusterError as error:
        click.echo(f"note: stack {stack}: health is not known: {error}", err=True)
        unknown = HealthVerdict(Health.UNKNOWN, str(error))
        return {each.name: unknown for each in report.agents}
