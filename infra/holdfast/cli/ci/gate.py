"""`holdfast ci gate`: everything that must hold before an update, in order. Wiring only."""

import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.files import state_directory, write_atomically
from holdfast.adapters.git.source import source_of
from holdfast.adapters.journal.journal import Journal, JournalKind, journal_file
from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.stack import stack_option
from holdfast.errors import ExitCode, HoldfastError, InputError
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import PACK_FOLDER, find_project_root
from holdfast.operations.validate.gates import GateReport, GateStep, StepResult
from holdfast.operations.validate.report import ValidationReport
from holdfast.operations.validate.validation import validate_project
from holdfast.report.text.gate_report import gate_json, gate_line, gate_summary

_COULD_NOT_START = 127
_SIGNAL_BASE = 128
"""As shells have it."""


@click.command("gate")
@click.argument("command_line", nargs=-1, metavar="[-- COMMAND]")
@stack_option("Stack that is to be updated.")
@click.option("--unit", metavar="COMMAND", help='Unit tests, such as "make unit".')
@click.option("--scan", metavar="COMMAND", help="A scan of your own, such as one of images.")
@click.option(
    "--result", type=click.Path(path_type=Path, dir_okay=False), help="Write the outcome as JSON."
)
def command(
    command_line: tuple[str, ...],
    *,
    stack: str,
    unit: str | None,
    scan: str | None,
    result: Path | None,
) -> int:
    """Run COMMAND only if everything before it holds: files, unit tests, scan, policy, preview.

    The first gate that fails ends it: the others and COMMAND are not run, and nothing is written
    to the cluster. The outcome is kept beside the stack's history in any case, and in --result.

    \b
    Examples:
      holdfast ci gate -s prod
      holdfast ci gate -s prod --unit "make unit" --result gate.json -- holdfast up -s prod

    \b
    Exit codes: those of the gate that failed (2 files, 5 policy, 1 others), else of COMMAND
    """
    if result is not None and not result.parent.is_dir():
        raise InputError(f"{result}: no such folder", remedy=f"run `mkdir -p {result.parent}`")
    gates = _Gates(find_project_root(), stack)
    planned: list[tuple[str, _Check]] = [("validate", gates.validate)]
    planned += [
        (name, _command_check(shlex.split(text)))
        for name, text in (("unit", unit), ("scan", scan))
        if text
    ]
    planned += [("policy", gates.policy), ("preview", gates.preview)]
    if command_line:
        planned.append(("command", _command_check(command_line)))
    started, source = utc_now(), source_of(gates.root)
    commit, is_dirty = (source.commit.name, source.is_dirty) if source else ("", False)
    steps = tuple(_told(_run(planned)))
    report = GateReport(stack, started, steps, commit, is_dirty)
    _keep(report, gates.root, result)
    click.echo(gate_summary(report), err=True)
    return exit_code_of(report)


@dataclass(frozen=True)
class _Failed:
    """How a check ended that did not pass."""

    exit_code: int
    detail: str


_Check = Callable[[], _Failed | None]


class _Gates:
    """The checks of one stack; manifests are read once."""

    def __init__(self, root: Path, stack: str) -> None:
        self.root = root
        self._stack = stack
        self._report: ValidationReport | None = None

    def _validated(self) -> ValidationReport:
        if self._report is None:
            today = datetime.now(UTC).date()
            self._report = validate_project(self.root, [self._stack], today=today)
        return self._report

    def validate(self) -> _Failed | None:
        """The files say nothing wrong."""
        errors = self._validated().errors
        if not errors:
            return None
        return _Failed(ExitCode.BAD_INPUT, "\n".join(str(error) for error in errors))

    def policy(self) -> _Failed | None:
        """What they stand for breaks no mandatory rule."""
        refused = [each for each in self._validated().breaches if each.is_mandatory]
        if not refused:
            return None
        lines = [f"{each.location}: {each.subject}: {each.path} [{each.rule}]" for each in refused]
        return _Failed(ExitCode.POLICY, "\n".join(lines))

    def preview(self) -> _Failed | None:
        """The engine could carry it out, and its own policy pack refuses nothing."""
        pack = self.root / PACK_FOLDER
        StackContext(self.root, self._stack).engine().preview(
            policy_pack=pack if pack.is_dir() else None
        )
        return None


def _command_check(words: tuple[str, ...] | list[str]) -> _Check:
    def check() -> _Failed | None:
        try:
            code = subprocess.run(words, check=False).returncode
        except OSError as error:
            return _Failed(_COULD_NOT_START, f"{words[0]}: {error.strerror or error}")
        code = code if code >= 0 else _SIGNAL_BASE - code
        # What was asked for may hold a token in its arguments: its name alone is told.
        return _Failed(code, f"{words[0]} ended with exit code {code}") if code else None

    return check


def _run(planned: list[tuple[str, _Check]]) -> Iterator[GateStep]:
    has_failed = False
    for name, check in planned:
        if has_failed:
            yield GateStep(name, StepResult.NOT_RUN)
            continue
        begun = time.monotonic()
        try:
            failed = check()
        except HoldfastError as error:
            failed = _Failed(int(error.exit_code), str(error))
        seconds = round(time.monotonic() - begun, 3)
        has_failed = failed is not None
        if failed is None:
            yield GateStep(name, StepResult.PASSED, seconds=seconds)
        else:
            yield GateStep(name, StepResult.FAILED, failed.exit_code, seconds, failed.detail)


def _told(steps: Iterator[GateStep]) -> Iterator[GateStep]:
    for step in steps:
        click.echo(gate_line(step), err=True)
        yield step


def journal_of_gates(root: Path, stack: str) -> Journal:
    """Where the outcomes of a stack's gates are kept."""
    project = read_project(root).name
    return Journal(journal_file(state_directory(), project, stack, JournalKind.GATES))


def _keep(report: GateReport, root: Path, file: Path | None) -> None:
    """Write the outcome down: beside the history of the stack, and where it was asked for."""
    with journal_of_gates(root, report.stack).appending() as journal:
        journal.append(gate_json(report, is_one_line=True).encode())
    if file is not None:
        try:
            write_atomically(file, gate_json(report))
        except OSError as error:
            raise HoldfastError(f"{file}: {error.strerror or error}") from error
