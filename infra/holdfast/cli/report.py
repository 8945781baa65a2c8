"""`holdfast report`: a saved drift report in another format. Wiring only."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from holdfast.cli.declared_places import places_in
from holdfast.cli.moments import Moment
from holdfast.cli.report_output import ReportRequest, check_files, report_options, write_reports
from holdfast.cli.stack_state import open_state
from holdfast.errors import ExitCode, InputError
from holdfast.render.origins import Origins
from holdfast.report.drift_context import DriftContext
from holdfast.report.drift_document import read_drift_json


@click.command()
@click.argument("document", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE")
@report_options
@click.option("-s", "--stack", default="", help="Stack that was scanned: for title and places.")
@click.option("--observed-at", type=Moment(), help="Time of the scan.")
def command(wanted: ReportRequest, *, document: Path, stack: str, observed_at: str | None) -> int:
    """Show a drift report that `holdfast drift -o json` has written in another format.

    FILE may be `-` for standard input. With --stack, inside the project, formats that name files
    say where each field is declared.

    \b
    Examples:
      holdfast report drift.json -o html --output-file drift.html
      holdfast report drift.json -o markdown > comment.md
      holdfast drift -s prod -o json | holdfast report - -s prod -o sarif

    \b
    Exit codes: 0 written, whatever the report says   2 no drift report   1 a file not written
    """
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
    context = DriftContext(stack=stack, observed_at=observed_at or "", runbook=wanted.runbook)
    if stack:
        context = replace(context, location_of=places_in(Origins(open_state(stack).fleet, stack)))
    write_reports(report, wanted, context)
    return ExitCode.OK
