"""The gates before an update: which held, which did not, which were not asked any more."""

from dataclasses import dataclass
from enum import StrEnum


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
