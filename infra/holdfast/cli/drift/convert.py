"""`holdfast drift convert`: a saved drift report in another format."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from holdfast.cli.options.report import report_options, write_reports
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.timestamps import Rfc3339
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration import StackLocations
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.drift import read_drift_json
from holdfast.report.exchange.files import ReportRequest, check_files


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE")
@report_options
@stack_option("Stack of the report; its files add the line of each field.", required=False)
@click.option("--observed-at", type=Rfc3339(), help="Time of the scan, for the report.")
def command(wanted: ReportRequest, *, file: Path, stack: str, observed_at: str | None) -> ExitCode:
    """Convert a report that `holdfast drift -o json` wrote to other formats.

    FILE is the report, or - for standard input. With -s, inside the project, formats that name
    files say where each field is declared.

    \b
    Examples:
      holdfast drift convert drift.json -o html --output-file drift.html
      holdfast drift -s prod -o json | holdfast drift convert - -s prod -o sarif

    \b
    Exit codes: 0 written, whatever the report says   1 a file was not written
      2 bad input
    """
    check_files(wanted)
    report = read_drift_json(*_read(file))
    context = ReportContext(stack=stack, observed_at=observed_at or "", runbook=wanted.runbook)
    if stack:
        fleet = StackContext(find_project_root(), stack).fleet
        context = replace(context, locations=StackLocations.of(fleet))
    write_reports(report, wanted, context)
    return ExitCode.OK


def _read(file: Path) -> tuple[bytes, str]:
    """The report, and what it is called in errors."""
    if str(file) == "-":
        return sys.stdin.buffer.read(), "standard input"
    try:
        return file.read_bytes(), str(file)
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror or error}",
            remedy="name a file, or - for standard input",
        ) from error
