"""Where reports go: the options of every verb that writes them in many formats."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

import click

from holdfast.cli.options.groups import Command, Group, Option, receives
from holdfast.cli.options.output import wants_colour
from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.drift.finding import DriftReport
from holdfast.drift.masking import without_values
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.report.exchange.files import ReportRequest, write_file
from holdfast.report.exchange.formats import DRIFT_FORMATS, PUBLIC_FORMATS, write_drift
from holdfast.report.text.finding_text import PAGE


class ReportFile(TypedParameter[tuple[str, Path]]):
    """`FORMAT=FILE`."""

    name = "FORMAT=FILE"

    def __init__(self, formats: Sequence[str]) -> None:
        self._formats = formats

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Format and file of one report."""
        chosen, separator, file = str(value).partition("=")
        if not separator or not file or chosen not in self._formats:
            formats = ", ".join(self._formats)
            self.fail(f"expected FORMAT=FILE with one of {formats}, got {value!r}", param, ctx)
        return chosen, Path(file)


def report_group(page: str, formats: Sequence[str]) -> Group:
    """Options that choose formats and files.

    Args:
        page: Documentation that reports link to, unless the user names its address.
        formats: Words that choose one.
    """
    return _request, _options(page, formats)


def report_options_for(page: str, formats: Sequence[str]) -> Callable[[Command], Command]:
    """The same; the command receives them as its first argument."""
    return receives(report_group(page, formats))


def _request(
    output: str,
    output_file: Path | None,
    reports: tuple[tuple[str, Path], ...],
    runbook: str,
) -> ReportRequest:
    return ReportRequest(output, output_file, reports, runbook)


def _options(page: str, formats: Sequence[str]) -> tuple[Option, ...]:
    return (
        click.option(
            "-o",
            "--output",
            "--format",
            "output",
            type=click.Choice(formats),
            default="text",
            show_default=True,
            metavar="FORMAT",
            help=f"One of {', '.join(formats)}.",
        ),
        click.option(
            "--output-file", type=click.Path(path_type=Path), help="Write to a file instead."
        ),
        click.option(
            "--report",
            "reports",
            type=ReportFile(formats),
            multiple=True,
            help="Write one more report; repeatable.",
        ),
        click.option(
            "--runbook",
            default=page,
            show_default=True,
            help="Address of the documentation that reports link to.",
        ),
    )


def _drift_request(*, values: bool | None, **others: Any) -> ReportRequest:  # noqa: ANN401  (options of any type)
    return replace(_request(**others), shows_values=values)


DRIFT_REPORT: Final[Group] = (
    _drift_request,
    (
        *_options(PAGE, DRIFT_FORMATS),
        click.option(
            "--values/--no-values",
            default=None,
            help=f"Show values of fields, or only their paths. Default: no values in "
            f"{', '.join(sorted(PUBLIC_FORMATS))}.",
        ),
    ),
)
"""The same for reports of drift; where strangers read along, values are left out."""

report_options = receives(DRIFT_REPORT)


def write_reports(report: DriftReport, wanted: ReportRequest, context: ReportContext) -> None:
    """Write every report of drift that is wanted.

    Raises:
        HoldfastError: a file cannot be written.
    """

    def written(chosen: str, *, colour: bool) -> str:
        shows = wanted.shows_values
        is_shown = chosen not in PUBLIC_FORMATS if shows is None else shows
        shown = report if is_shown else without_values(report)
        return write_drift(shown, chosen, context, colour=colour)

    write_all(written, wanted)


class ReportWriter(Protocol):
    """Writes one report in a format."""

    def __call__(self, chosen: str, *, colour: bool) -> str:
        """The text; with colour when it is for a terminal that wants it."""


def write_all(writer: ReportWriter, wanted: ReportRequest) -> None:
    """Write one report in every format that is wanted.

    Raises:
        HoldfastError: a file cannot be written.
    """
    for chosen, file in wanted.written_files:
        write_file(file, writer(chosen, colour=False))
        click.echo(f"wrote {file}", err=True)
    if wanted.output_file is None:
        click.echo(writer(wanted.output, colour=wants_colour()), nl=False)
