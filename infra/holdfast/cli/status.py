"""`holdfast status`: sync, health and drift of every agent, of one stack or of a fleet."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.groups import Group, receives
from holdfast.cli.options.report import ReportFile, write_all
from holdfast.cli.options.timestamps import Rfc3339
from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.cli.options.words import AGENT, STACK
from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.fleet_report import FleetRequest, fleet_report
from holdfast.operations.describe.status import SavedScan, stack_status
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.drift import agents_counted, read_drift_json
from holdfast.report.exchange.files import ReportRequest, check_files
from holdfast.report.exchange.formats import write_fleet
from holdfast.report.text.listed import listed
from holdfast.report.text.status_text import status_json, status_text

_FLEET_FORMS: Final = {"wide": "text", "html": "html", "fleet": "json"}
"""What -o says, to the format of a fleet's report."""


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


@dataclass(frozen=True)
class _FleetOptions:
    """Options of a fleet's report; see their help."""

    output_file: Path | None
    reports: Sequence[tuple[str, Path]]
    scans: Sequence[tuple[str, Path]]
    offline: bool
    observed_at: str | None

    def refuse(self) -> None:
        """Refuse every one of them that is given.

        Raises:
            InputError: one is.
        """
        given = {
            "--output-file": self.output_file,
            "--report": self.reports,
            "--saved": self.scans,
            "--offline": self.offline,
            "--observed-at": self.observed_at,
        }
        for option, value in given.items():
            if value:
                forms = ", ".join(_FLEET_FORMS)
                raise InputError(f"{option} requires -o {forms}", remedy="choose one of them")


_FLEET: Final[Group] = (
    _FleetOptions,
    (
        click.option(
            "--output-file", type=click.Path(path_type=Path), help="Write to a file instead."
        ),
        click.option(
            "--report",
            "reports",
            type=ReportFile(tuple(_FLEET_FORMS)),
            multiple=True,
            help="Write one more report; repeatable.",
        ),
        click.option(
            "--saved",
            "scans",
            type=_SavedScan(),
            multiple=True,
            help="Take drift from a saved `drift -o json` instead of the cluster; repeatable.",
        ),
        click.option("--offline", is_flag=True, help="Ask no cluster; live state is then unknown."),
        click.option("--observed-at", type=Rfc3339(), help="Time of the saved scans."),
    ),
)


@click.command()
@click.argument("agent", type=AGENT, default="", metavar="[AGENT]")
@click.option(
    "-s",
    "--stack",
    "stacks",
    type=STACK,
    multiple=True,
    required=True,
    help="Stack to report; repeatable.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "yaml", "name", *_FLEET_FORMS]),
    default="text",
    show_default=True,
    help="See below.",
)
@receives(_FLEET)
def command(options: _FleetOptions, *, agent: str, stacks: tuple[str, ...], output: str) -> int:
    """Print sync, health and drift of every agent, or of AGENT.

    Sync is Synced, OutOfSync or Unknown: live against declared state. Health is that of the
    workloads. Hosted tool servers are listed with the agents; drift that belongs to no agent comes
    last. Nothing is changed or recorded.

    \b
    text         one stack: a line an agent, with findings and their authors
    json, yaml   the same as data
    name         the names of its agents
    wide         agents, drift, policy, topology and updates of all stacks
    html         the same as one page that needs no network and no script
    fleet        the same as JSON

    \b
    Examples:
      holdfast status -s prod
      holdfast status support-rag -s prod -o json
      holdfast status -s dev -s prod -o html --output-file fleet.html
      holdfast status -s prod --saved prod=drift.json -o html \\
        --output-file fleet.html
      holdfast status -s prod --offline -o fleet

    \b
    Exit codes: 2 bad input   6 no such stack
      of one stack: 0 synced and healthy   7 drift   1 unhealthy, or not all known
      others: 0 written   1 not everything could be read (not with --offline)
    """
    if output in _FLEET_FORMS:
        if agent:
            raise InputError(f"-o {output} reports stacks, not one agent", remedy="remove AGENT")
        files = tuple((_FLEET_FORMS[form], file) for form, file in options.reports)
        wanted = ReportRequest(_FLEET_FORMS[output], options.output_file, files)
        return _fleet(stacks, wanted, options)
    options.refuse()
    if len(stacks) > 1:
        raise InputError(
            f"-o {output} reports one stack", remedy=f"choose -o {', '.join(_FLEET_FORMS)}"
        )
    found = stack_status(StackContext(find_project_root(), stacks[0]), agent)
    text = listed(
        output,
        text=lambda: status_text(found),
        document=lambda: status_json(found),
        names=(each.name for each in found.agents),
    )
    click.echo(text, nl=False)
    return exit_code_of(found)


def _fleet(stacks: tuple[str, ...], wanted: ReportRequest, options: _FleetOptions) -> int:
    if options.observed_at and not options.scans:
        raise InputError("--observed-at requires --saved", remedy="remove it")
    check_files(wanted)
    report = fleet_report(
        FleetRequest(
            find_project_root(),
            stacks,
            {stack: _saved_scan(file) for stack, file in options.scans},
            options.offline,
            observed_at=options.observed_at or "",
        )
    )
    for note in (note for stack in report.stacks for note in stack.notes):
        click.echo(note, err=True)
    write_all(lambda chosen, *, colour: write_fleet(report, chosen), wanted)
    return ExitCode.OK if options.offline else exit_code_of(report)


def _saved_scan(file: Path) -> SavedScan:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", remedy="name a file") from error
    return SavedScan(file, read_drift_json(text, str(file)), agents_counted(text))
