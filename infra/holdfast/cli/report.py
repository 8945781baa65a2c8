"""`holdfast report`: a fleet on one page, or a saved drift report in another format. Wiring."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from holdfast.adapters.clock import utc_now
from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.report import (
    ReportRequest,
    check_files,
    report_options,
    write_all,
    write_reports,
)
from holdfast.cli.options.stack import STACK
from holdfast.cli.options.timestamps import Moment
from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.fleet_report import FleetRequest, fleet_report
from holdfast.operations.describe.status import SavedScan
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration import StackLocations
from holdfast.operations.stack.project import find_project_root
from holdfast.render.provenance.origins import Origins
from holdfast.report.documents.drift import agents_counted, read_drift_json
from holdfast.report.exchange.formats import FLEET_FORMATS, write_fleet


class _SavedScan(TypedParameter[tuple[str, Path]]):
    """`STACK=FILE`."""

    name = "STACK=FILE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Stack and file of one saved scan."""
        stack, separator, file = str(value).partition("=")
        if not (stack and separator and file):
            self.fail(f"expected STACK=FILE, got {value!r}", param, ctx)
        return stack, Path(file)


@click.command()
@click.argument(
    "document", type=click.Path(path_type=Path, allow_dash=True), required=False, metavar="[FILE]"
)
@report_options
@click.option(
    "-s",
    "--stack",
    "stacks",
    type=STACK,
    multiple=True,
    help="Stack to report; repeatable without FILE.",
)
@click.option(
    "--scan",
    "scans",
    type=_SavedScan(),
    multiple=True,
    help="A stack's drift from what `holdfast drift -o json` has written; its cluster is not "
    "asked. Repeatable.",
)
@click.option("--offline", is_flag=True, help="Ask no cluster: what runs is then not known.")
@click.option("--observed-at", type=Moment(), help="Time of the saved scans.")
def command(
    wanted: ReportRequest,
    *,
    document: Path | None,
    stacks: tuple[str, ...],
    observed_at: str | None,
    **fleet: bool | tuple[tuple[str, Path], ...],
) -> int:
    """Report a whole fleet, or show a drift report that was saved in another format.

    Without FILE, everything that is known of one stack or several: agents with sync, health, drift,
    its authors and its age, what the rules say, who calls whom, the updates, and what could not be
    looked at. As HTML it is one page that needs no network and no script; also text and JSON. A
    stack whose cluster does not answer is reported as not known. Nothing is changed or recorded.

    With FILE (`-` for standard input), the report that `holdfast drift -o json` has written, in any
    format; with --stack, inside the project, formats that name files say where each field is
    declared.

    \b
    Examples:
      holdfast report -s dev -s prod -o html --output-file fleet.html
      holdfast report -s prod --scan prod=drift.json -o html --output-file fleet.html
      holdfast report -s prod --offline -o json
      holdfast report drift.json -o html --output-file drift.html
      holdfast drift -s prod -o json | holdfast report - -s prod -o sarif

    \b
    Exit codes: 0 written, whatever the report says   2 bad input   6 no such stack
      1 a file not written; or, of a fleet, something could not be looked at (not with --offline)
    """
    scans, is_offline = dict(_pairs(fleet["scans"])), bool(fleet["offline"])
    if document is None:
        return _of_fleet(wanted, stacks, scans, is_offline=is_offline, observed_at=observed_at)
    if len(stacks) > 1 or scans or is_offline:
        raise InputError(
            "FILE excludes --scan, --offline and a second --stack",
            remedy="leave FILE out to report a fleet",
        )
    return _of_document(wanted, document, "".join(stacks), observed_at)


def _pairs(value: object) -> tuple[tuple[str, Path], ...]:
    return value if isinstance(value, tuple) else ()


def _of_fleet(
    wanted: ReportRequest,
    stacks: tuple[str, ...],
    scans: Mapping[str, Path],
    *,
    is_offline: bool,
    observed_at: str | None,
) -> int:
    if not stacks:
        raise InputError(
            "neither FILE nor a stack is named",
            remedy="add -s STACK, or name a report that `holdfast drift -o json` has written",
        )
    for chosen in (wanted.output, *(each for each, _ in wanted.files)):
        if chosen not in FLEET_FORMATS:
            raise InputError(
                f"expected one of {', '.join(FLEET_FORMATS)} for a fleet, got {chosen}",
                remedy=f"for one stack's drift, `holdfast drift -s {stacks[0]} -o {chosen}`",
            )
    if observed_at and not scans:
        raise InputError("--observed-at needs --scan or FILE", remedy="leave it out")
    check_files(wanted)
    saved = {stack: _saved_scan(file) for stack, file in scans.items()}
    report = fleet_report(
        FleetRequest(
            find_project_root(), stacks, utc_now(), saved, is_offline, observed_at=observed_at or ""
        )
    )
    for note in (note for stack in report.stacks for note in stack.notes):
        click.echo(note, err=True)
    write_all(lambda chosen, *, colour: write_fleet(report, chosen), wanted)
    return ExitCode.OK if is_offline else exit_code_of(report)


def _saved_scan(file: Path) -> SavedScan:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", remedy="name a file") from error
    return SavedScan(file, read_drift_json(text, str(file)), agents_counted(text))


def _of_document(wanted: ReportRequest, document: Path, stack: str, observed_at: str | None) -> int:
    check_files(wanted)
    if str(document) == "-":
        text, source = sys.stdin.buffer.read(), "standard input"
    else:
        source = str(document)
        try:
            text = document.read_bytes()
        except OSError as error:
            raise InputError(
                f"{source}: {error.strerror or error}",
                remedy="name a file, or - for standard input",
            ) from error
    report = read_drift_json(text, source)
    context = ReportContext(stack=stack, observed_at=observed_at or "", runbook=wanted.runbook)
    if stack:
        context = replace(
            context,
            locations=StackLocations(
                Origins(StackContext(find_project_root(), stack).fleet, stack)
            ),
        )
    write_reports(report, wanted, context)
    return ExitCode.OK
