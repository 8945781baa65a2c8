"""Which reports are wanted, in which formats, and the files that they are written to."""

from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.files import write_atomically
from holdfast.errors import HoldfastError, InputError
from holdfast.report.text.finding_text import PAGE


@dataclass(frozen=True)
class ReportRequest:
    """Which reports are wanted, and where.

    Attributes:
        output: Format of standard output, or of `output_file`.
        output_file: Instead of standard output.
        files: Format and file of each further report.
        runbook: Address of the documentation that reports link to.
        shows_values: Whether values of fields are shown; None for what the format is for.
    """

    output: str = "text"
    output_file: Path | None = None
    files: tuple[tuple[str, Path], ...] = ()
    runbook: str = PAGE
    shows_values: bool | None = None

    @property
    def is_for_files(self) -> bool:
        """Whether anything but text is wanted: for readers who want every place exactly."""
        return self.output != "text" or any(chosen != "text" for chosen, _ in self.files)

    @property
    def written_files(self) -> tuple[tuple[str, Path], ...]:
        """Format and file of everything that does not go to standard output."""
        main = ((self.output, self.output_file),) if self.output_file else ()
        return (*main, *self.files)


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


def write_file(file: Path, text: str) -> None:
    """Write a file atomically.

    Raises:
        HoldfastError: it cannot be written.
    """
    try:
        write_atomically(file, text)
    except OSError as error:
        raise HoldfastError(f"{file}: {error.strerror or error}") from error
