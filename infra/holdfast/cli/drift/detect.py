"""`holdfast drift`: compares live and desired state, of one stack or of several."""

import gc
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import click

from holdfast.cli.drift.options import COMPARED, ComparisonOptions
from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.options.groups import Group, takes
from holdfast.cli.options.intervals import SECONDS
from holdfast.cli.options.output import TERMINAL
from holdfast.cli.options.probes import PROBES
from holdfast.cli.options.recording import RECORDING
from holdfast.cli.options.report import DRIFT_REPORT, write_reports
from holdfast.cli.verbs import VERBS
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.recording import record
from holdfast.operations.scan.request import ProbeRequest, RecordingRequest
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.tracing import note_scan, traced_scan
from holdfast.report.exchange.files import ReportRequest, check_files

SECTIONS: Final = {
    "stacks": "What is compared",
    "output": "Reports",
    "history": "History",
    "probes": "Probes of what agents depend on",
    "engine": "Pulumi's refresh",
}


@dataclass(frozen=True)
class _Engine:
    """Pulumi's refresh.

    Attributes:
        engine: Of everything, never, or (None) of what drifted.
        timeout_seconds: None for the default.
    """

    engine: bool | None
    timeout_seconds: float | None

    def check(self, compared: ComparisonOptions) -> None:
        """Refuse what cannot be asked.

        Raises:
            InputError: the options do not go together.
        """
        if self.engine and not compared.stacks:
            raise InputError("--engine requires --stack", remedy="Pulumi knows stacks, not files")
        if self.timeout_seconds is not None and (self.engine is False or not compared.stacks):
            raise InputError(
                "--timeout is of Pulumi's refresh, which does not run here",
                remedy="remove it; --request-timeout is of API requests",
            )


_ENGINE: Final[Group] = (
    _Engine,
    (
        click.option(
            "--engine/--no-engine",
            default=None,
            help="Run Pulumi's refresh too: on the whole stack, or never. Default: on what "
            "drifted.",
        ),
        click.option(
            "--timeout",
            "timeout_seconds",
            type=SECONDS,
            metavar="SECONDS",
            help="Timeout of the refresh.  [default: 3600]",
        ),
    ),
)


@dataclass(frozen=True)
class _DetectRequest:
    """Everything that `holdfast drift` is asked for."""

    compared: ComparisonOptions
    report: ReportRequest
    recording: RecordingRequest
    probing: ProbeRequest
    engine: _Engine


@click.group(
    cls=LazyGroup,
    verbs=VERBS["drift"].below,
    sections=SECTIONS,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)
@takes(
    _DetectRequest,
    compared=COMPARED,
    report=DRIFT_REPORT,
    recording=RECORDING,
    probing=PROBES,
    engine=_ENGINE,
)
def command(asked: _DetectRequest) -> int:
    """Compare the cluster with the declared state.

    Finds what `pulumi refresh` cannot: fields, list items and objects that were added, objects that
    were recreated; names the author and the policy rules that a change violates. Reads only (one
    LIST a kind). With OTEL_EXPORTER_OTLP_ENDPOINT a scan is a trace.

    \b
    Examples:
      holdfast drift -s dev
      holdfast drift -s dev -s staging -s prod
      holdfast drift --desired manifests/ --context kind-test
      holdfast drift --desired app.yaml --live live.json -o json
      holdfast drift -s dev --report html=drift.html --report sarif=drift.sarif
      holdfast drift revert -s dev

    \b
    Exit codes: 0 in sync   7 drift   1 error, or not everything was checked
      2 bad input
    """
    freeze_loaded()
    check_files(asked.report)
    if len(asked.compared.stacks) > 1:
        from holdfast.cli.drift.several import detect_several  # noqa: PLC0415  (the models)

        _refuse_options_of_one(asked)
        return detect_several(asked.compared, asked.recording, asked.report)
    if asked.probing.is_on and not asked.compared.stacks:
        raise InputError("--probes requires --stack", remedy="add -s STACK")
    asked.engine.check(asked.compared)
    request = replace(asked.compared.request(), engine_timeout_seconds=asked.engine.timeout_seconds)
    with traced_scan(request.stack, TERMINAL) as span:
        scanner = Scanner(request, TERMINAL)
        scan = scanner.run(engine=asked.engine.engine)
        if asked.probing.is_on:
            from holdfast.operations.scan.probing.run import with_probes  # noqa: PLC0415  (the models)

            scan = with_probes(scanner, scan, asked.probing)
        report(scanner, scan, asked.report, asked.recording)
        note_scan(span, scan.report)
        return exit_code(scan)


def freeze_loaded() -> None:
    """Exempt what is loaded from garbage collection, which else costs a third of a scan."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)


def report(
    scanner: Scanner, scan: Scan, wanted: ReportRequest, recording: RecordingRequest
) -> None:
    """Record a scan, and write its reports."""
    recorded = record(scanner, scan, recording)
    context = ReportContext(
        scanner.request.stack,
        recorded.observed_at,
        wanted.runbook,
        scanner.desired.locations,
        recorded.histories,
    )
    write_reports(scan.report, wanted, context)


def exit_code(scan: Scan, failures: int = 0) -> ExitCode:
    """The exit code of a scan."""
    found = scan.report
    if failures or not found.is_complete:
        return ExitCode.ERROR
    return ExitCode.DRIFT if found.drift else ExitCode.OK


def _refuse_options_of_one(asked: _DetectRequest) -> None:
    """Refuse what has no meaning for several stacks, before anything is read."""
    compared = asked.compared
    twice = next((each for each in compared.stacks if compared.stacks.count(each) > 1), None)
    if twice is not None:
        raise InputError(f"stack {twice} is named twice", remedy="name each stack once")
    given: Mapping[str, object] = {
        "--live": compared.live,
        "--baseline": compared.baseline,
        "--kubeconfig": compared.kubeconfig,
        "--context": compared.context,
        "--history": asked.recording.file,
        "--probes": asked.probing.is_on,
        "--engine": asked.engine.engine,
        "--timeout": asked.engine.timeout_seconds,
    }
    for option, value in given.items():
        if value:
            raise InputError(f"{option} takes one stack", remedy="run a scan for each stack")
