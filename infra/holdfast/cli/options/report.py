"""Where reports go: the options of every verb that writes them in many formats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import click

from holdfast.adapters.files import write_atomically
from holdfast.cli.options.groups import Command, Group, Option, receives
from holdfast.cli.options.output import wants_colour
from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.drift.finding import DriftReport
from holdfast.errors import HoldfastError, InputError
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.report.exchange.formats import DRIFT_FORMATS, write_drift
from holdfast.report.text.finding_text import PAGE


@dataclass(frozen=True)
class ReportRequest:
    """Which reports are wanted, and where.

    Attributes:
        output: Format of standard output, or of `output_file`.
        output_file: Instead of standard output.
        files: Format and file of each further report.
        runbook: Address of the documentation that reports link to.
    """

    output: str = "text"
    output_file: Path | None = None
    files: tuple[tuple[str, Path], ...] = ()
    runbook: str = PAGE

    @property
    def is_for_files(self) -> bool:
        """Whether anything but text is wanted: for readers who want every place exactly."""
        return self.output != "text" or any(chosen != "text" for chosen, _ in self.files)

    @property
    def written_files(self) -> tuple[tuple[str, Path], ...]:
        """Format and file of everything that does not go to standard output."""
        main = ((self.output, self.output_file),) if self.output_file else ()
        return (*main, *self.files)


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


DRIFT_REPORT: Final = report_group(PAGE, DRIFT_FORMATS)
"""The same for reports of drift."""

report_options = report_options_for(PAGE, DRIFT_FORMATS)


def check_files(wanted: ReportRequest) -> None:
    """See that every file can be written, before anything takes time.

    Raises:
        InputError: a folder does not exist, or two reports would go to one file.
    """
    seen: set[Path] = set()
    for _, file in wanted.written_files:
        if not file.parent.is_dir():
            raise InputError(f"{file}: no such folder", remedy=f"run `mkdir -p {file.parent}`")
        if file.is_dir():
            raise InputError(f"{file}: expected a file, got a folder", remedy="name a file in it")
        if file.resolve() in seen:
            raise InputError(f"{file}: two reports in one file", remedy="name another file")
        seen.add(file.resolve())


def write_reports(report: DriftReport, wanted: ReportRequest, context: ReportContext) -> None:
    """Write every report of drift that is wanted.

    Raises:
        HoldfastError: a file cannot be written.
    """

    def written(chosen: str, *, colour: bool) -> str:
        return write_drift(report, chosen, context, colour=colour)

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


def write_file(file: Path, text: str) -> None:
    """Write a file atomically.

    Raises:
        HoldfastError: it cannot be written.
    """
    try:
        write_atomically(file, text)
    except OSError as error:
        raise HoldfastError(f"{file}: {error.strerror or error}") from error
