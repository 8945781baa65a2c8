"""`holdfast drift history`: what the scans of a stack have seen over time. Wiring only."""

from pathlib import Path

import click

from holdfast.adapters.journal.scan_journal import read_history
from holdfast.cli.options.output import OUTPUT, wants_colour
from holdfast.cli.options.recording import threshold_option
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.timestamps import Moment
from holdfast.drift.record.finding_history import alerts
from holdfast.drift.scan import observed_objects
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.recording import damage_note, default_history_file
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.history import HistoryReport, history_json
from holdfast.report.text.history_text import history_text


@click.command()
@stack_option("Stack whose scans are wanted.", required=False)
@click.option(
    "--history",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps the scans; default the stack's in the state folder.",
)
@click.option(
    "--at", "moment", type=Moment(), help="As it was then: the whole scan and the configuration."
)
@threshold_option()
@OUTPUT
def command(
    stack: str, file: Path | None, moment: str | None, alert_after: int, output: str
) -> int:
    """Print since when findings stand, how often they were seen, and what has added up.

    Every `holdfast drift -s STACK` is recorded. With --at the scan that was current at that time is
    printed in full: every finding with its live value, and the rules it broke; with -o json the
    configuration as well, every object as it was then.

    \b
    Examples:
      holdfast drift history -s prod
      holdfast drift history -s prod --at 2026-11-20T09:00:00Z -o json
      holdfast drift history --history scans.jsonl --alert-after 10

    \b
    Exit codes: 0 printed   2 no scan was recorded, or none by that time
    """
    if not stack and file is None:
        raise InputError("one of --stack and --history is needed", remedy="see --help")
    file = file or default_history_file(find_project_root(), stack)
    report = _report(file, stack, moment, alert_after)
    if output == "json":
        click.echo(history_json(report), nl=False)
    else:
        in_full = moment is not None
        click.echo(history_text(report, in_full=in_full, colour=wants_colour()), nl=False)
    return ExitCode.OK


def _report(file: Path, stack: str, moment: str | None, alert_after: int) -> HistoryReport:
    history = read_history(file, until=moment or "")
    if not history.observations:
        whole = read_history(file)
        if not whole.observations:
            raise InputError(f"{file}: no scan was recorded", remedy="run `holdfast drift` first")
        first = whole.observations[0].observed_at
        raise InputError(f"no scan was made by {moment}", remedy=f"the first was at {first}")
    if history.damaged_lines:
        click.echo(damage_note(file, history.damaged_lines), err=True)
    last = history.observations[-1]
    declared = history.configurations.declared(last.configuration)
    return HistoryReport(
        stack=stack,
        scans=history.book.scans,
        last=last,
        sightings=history.book.by_key(),
        alerts=alerts(history.observations, alert_after),
        configuration=None
        if declared is None or moment is None
        else tuple(observed_objects(declared, last.report.findings)),
    )
