"""The gates before an update: which held, which did not, which were not asked any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import msgspec

from holdfast.kube.safe_text import safe_text
from holdfast.report.documents.json_text import json_line, json_text

SCHEMA_VERSION: Final = "holdfast.dev/gate/v1"
_LONGEST_LINE_CHARACTERS: Final = 2000
_SHORT_DIGITS: Final = 12


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
    def exit_code(self) -> int:
        """Of the gate that failed; 0 when all hold."""
        return next((each.exit_code for each in self.steps if each.result is StepResult.FAILED), 0)


def gate_line(step: GateStep) -> str:
    """One gate for people, its reason below it."""
    lines = [f"{step.name}: {step.result.value}"]
    lines += [f"  {safe_text(line, _LONGEST_LINE_CHARACTERS)}" for line in step.detail.splitlines()]
    return "\n".join(lines)


def gate_summary(report: GateReport) -> str:
    """One line about all of them."""
    failed = next((each for each in report.steps if each.result is StepResult.FAILED), None)
    if failed is None:
        return f"stack {report.stack}: every gate holds"
    left = [each.name for each in report.steps if each.result is StepResult.NOT_RUN]
    others = f"; not run: {', '.join(left)}" if left else ""
    return f"stack {report.stack}: {failed.name} failed{others}"


def read_gate(line: bytes) -> GateReport | None:
    """A line of a journal, read again; None for one that is torn or of another version."""
    try:
        read = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if read.schema_version != SCHEMA_VERSION:
        return None
    steps = tuple(
        GateStep(each.name, each.result, each.exit_code, each.seconds, each.detail)
        for each in read.steps
    )
    return GateReport(read.stack, read.started_at, steps, read.commit, read.dirty)


def gates_text(reports: Sequence[GateReport]) -> str:
    """One line for each time that gates were asked."""
    return "".join(
        f"{each.started_at}  {_commit_words(each)}  {gate_summary(each).partition(': ')[2]}\n"
        for each in reports
    )


def _commit_words(report: GateReport) -> str:
    commit = f"{report.commit[:_SHORT_DIGITS] or 'no commit':{_SHORT_DIGITS}}"
    return f"{commit} dirty" if report.is_dirty else commit


class _Step(msgspec.Struct, rename="camel"):
    name: str
    result: StepResult
    exit_code: int
    seconds: float
    detail: str


class _Line(msgspec.Struct, rename="camel"):
    schema_version: str
    stack: str
    started_at: str
    steps: list[_Step]
    commit: str = ""
    dirty: bool = False


def gate_json(report: GateReport, *, is_one_line: bool = False) -> str:
    """The whole report; without a line end when it is to be one line of a journal."""
    document = gate_document(report)
    return json_line(document) if is_one_line else json_text(document)


def gate_document(report: GateReport) -> dict[str, Any]:
    """The whole report as plain data."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "stack": report.stack,
        "startedAt": report.started_at,
        "commit": report.commit,
        "dirty": report.is_dirty,
        "passed": report.exit_code == 0,
        "steps": [
            {
                "name": each.name,
                "result": each.result.value,
                "exitCode": each.exit_code,
                "seconds": each.seconds,
                "detail": each.detail,
            }
            for each in report.steps
        ],
    }
