"""`holdfast drift plan` and `holdfast drift revert`: planned, shown, confirmed, applied."""

from dataclasses import dataclass
from typing import Final

import click

from holdfast.cli.drift.adopt import show_refused
from holdfast.cli.drift.detect import exit_code, report
from holdfast.cli.drift.options import ALLOW_REPLACE, ONLY, ComparisonOptions, compared
from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.groups import Group, receives, takes
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.recording import HISTORY
from holdfast.errors import ExitCode, InputError
from holdfast.operations.remediate.by_mode import apply_by_mode, plan_by_mode
from holdfast.operations.remediate.revert import RevertPlan, apply_revert, plan_revert
from holdfast.operations.remediate.selection import with_only
from holdfast.operations.scan.request import RecordingRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.tracing import note_scan, traced_scan
from holdfast.report.exchange.files import ReportRequest
from holdfast.report.text.revert_text import plan_json, revert_plan_text


@click.command()
@receives(compared())
@ONLY
@ALLOW_REPLACE
@OUTPUT
def plan(
    asked: ComparisonOptions, *, only: tuple[str, ...], allow_replace: bool, output: str
) -> ExitCode:
    """Print what `holdfast drift revert` would do, and write nothing.

    \b
    Examples:
      holdfast drift plan -s dev
      holdfast drift plan -s dev --only "Deployment cx/support-rag" -o json

    \b
    Exit codes: 0 in sync   7 drift   1 error, or not everything was checked
      2 bad input
    """
    request = asked.request()
    with traced_scan(request.stack, TERMINAL) as span:
        scan = with_only(Scanner(request, TERMINAL).run(engine=False), only)
        planned = plan_revert(scan, may_replace=allow_replace).objects
        text = plan_json(planned) if output == "json" else revert_plan_text(planned)
        click.echo(text, nl=False)
        note_scan(span, scan.report)
        return exit_code(scan)


@dataclass(frozen=True)
class _RevertOptions:
    only: tuple[str, ...]
    allow_replace: bool
    by_mode: bool
    yes: bool


_REVERT: Final[Group] = (
    _RevertOptions,
    (
        ONLY,
        ALLOW_REPLACE,
        click.option(
            "--by-mode",
            is_flag=True,
            help="Revert, adopt or only report, as spec.drift.mode of each agent says.",
        ),
        click.option("-y", "--yes", is_flag=True, help="Confirm without asking."),
    ),
)


@dataclass(frozen=True)
class _Revert:
    compared: ComparisonOptions
    recording: RecordingRequest
    options: _RevertOptions


@click.command()
@takes(_Revert, compared=compared("live", "request_timeout"), recording=HISTORY, options=_REVERT)
@OUTPUT
def revert(asked: _Revert, *, output: str) -> ExitCode:
    """Revert drift: show the plan, ask, apply it, and scan again.

    Declared fields are applied by server-side apply. Additions are removed by a patch of exactly
    their paths, and only while the object is as it was shown.

    \b
    Examples:
      holdfast drift revert -s dev
      holdfast drift revert -s dev \\
        --only "Deployment cx/support-rag spec.replicas"
      holdfast drift revert -s dev --by-mode --yes

    \b
    Exit codes: 0 in sync   7 drift remains
      1 an object failed, or was not checked   2 bad input   8 cancelled
    """
    options, request = asked.options, asked.compared.request()
    if options.by_mode and not request.stack:
        raise InputError("--by-mode requires --stack", remedy="plain objects declare no mode")
    with traced_scan(request.stack, TERMINAL) as span:
        scanner = Scanner(request, TERMINAL)
        scan = scanner.run(engine=False)
        remediate = _by_mode if options.by_mode else _revert
        scan, failures = remediate(scanner, scan, options)
        report(scanner, scan, ReportRequest(output), asked.recording)
        note_scan(span, scan.report)
        return exit_code(scan, failures)


def _revert(scanner: Scanner, scan: Scan, options: _RevertOptions) -> tuple[Scan, int]:
    planned = plan_revert(with_only(scan, options.only), may_replace=options.allow_replace)
    _show(planned)
    if not planned.acting:
        return scan, 0
    confirm("Revert these?", is_confirmed=options.yes)
    outcome = apply_revert(scanner, planned, TERMINAL)
    return outcome.scan, outcome.failures


def _by_mode(scanner: Scanner, scan: Scan, options: _RevertOptions) -> tuple[Scan, int]:
    chosen = with_only(scan, options.only)
    planned = plan_by_mode(scanner, chosen, may_replace=options.allow_replace)
    if planned.adoption is not None:
        show_refused(planned.adoption)
    if planned.revert.scan.report.drift:
        _show(planned.revert)
    if planned.revert.acting:
        confirm("Revert these?", is_confirmed=options.yes)
    outcome = apply_by_mode(scanner, planned, None, TERMINAL)
    return (outcome.scan, outcome.failures) if outcome else (scan, 0)


def _show(planned: RevertPlan) -> None:
    click.echo(revert_plan_text(planned.objects), nl=False, err=True)
