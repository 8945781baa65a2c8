"""The gates before an update: which held, which did not, which were not asked any more."""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from holdfast.adapters.clock import utc_now
from holdfast.adapters.git.source import source_of
from holdfast.errors import ExitCode, HoldfastError
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import policy_pack
from holdfast.operations.validate.report import ValidationReport
from holdfast.operations.validate.validation import validate_project

_COULD_NOT_START: Final = 127
_SIGNAL_BASE: Final = 128
"""As shells have it."""


class StepResult(StrEnum):
    """What became of one gate."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class GateStep:
    """One gate.

    Attributes:
        name: `validate`, `unit`, `scan`, `policy`, `preview`, or `command` for what they guard.
        exit_code: 0 unless it failed.
        seconds: Wall clock; 0 for what was not run.
        detail: Why it failed; may have several lines.
    """

    name: str
    result: StepResult
    exit_code: int = 0
    seconds: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """All of them, in order.

    Attributes:
        started_at: RFC 3339.
        commit: The commit that is checked out; empty outside of any repository.
        is_dirty: Files differ from that commit.
    """

    stack: str
    started_at: str
    steps: tuple[GateStep, ...]
    commit: str = ""
    is_dirty: bool = False

    @property
    def failed(self) -> GateStep | None:
        """The gate that failed; None when all hold."""
        return next((each for each in self.steps if each.result is StepResult.FAILED), None)


@dataclass(frozen=True)
class GateRequest:
    """Which gates are checked before an update.

    Attributes:
        root: Folder of Pulumi.yaml.
        commands: Name and command of further gates, after the files are validated.
        guarded: Command that runs if every gate holds; empty for none.
    """

    root: Path
    stack: str
    commands: Sequence[tuple[str, Sequence[str]]] = ()
    guarded: Sequence[str] = ()


def run_gates(request: GateRequest, done: Callable[[GateStep], None]) -> GateReport:
    """Check every gate until one fails, then run the guarded command; nothing else is written.

    Args:
        request: Which gates.
        done: Takes each gate as it ends.
    """
    gates = _Gates(request.root, request.stack)
    planned: list[tuple[str, _Check]] = [("validate", gates.validate)]
    planned += [(name, _command_check(words)) for name, words in request.commands]
    planned += [("policy", gates.policy), ("preview", gates.preview)]
    if request.guarded:
        planned.append(("command", _command_check(request.guarded)))
    started, source = utc_now(), source_of(request.root)
    commit, is_dirty = (source.commit.name, source.is_dirty) if source else ("", False)
    steps = []
    for step in _run(planned):
        done(step)
        steps.append(step)
    return GateReport(request.stack, started, tuple(steps), commit, is_dirty)


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
        StackContext(self.root, self._stack).engine().preview(policy_pack=policy_pack(self.root))
        return None


def _command_check(words: Sequence[str]) -> _Check:
    def check() -> _Failed | None:
        try:
            code = subprocess.run(words, check=False).returncode
        except OSError as error:
            return _Failed(_COULD_NOT_START, f"{words[0]}: {error.strerror or error}")
        code = code if code >= 0 else _SIGNAL_BASE - code
        # What was asked for may hold a token in its arguments: only its name is shown.
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
