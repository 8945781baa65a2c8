"""The gates before an update: which held, which did not, which were not asked any more."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from holdfast.kube.text import safe_text
from holdfast.operations.validate.gates import GateReport, GateStep, StepResult
from holdfast.report.documents.json_text import json_line, json_text
from holdfast.report.text.table import table

SCHEMA_VERSION: Final = "holdfast.dev/gate/v1"
_LONGEST_LINE_CHARACTERS: Final = 2000
_SHORT_DIGITS: Final = 12


def gate_line(step: GateStep) -> str:
    """One gate for people, its reason below it."""
    lines = [f"{step.name}: {step.result.value}"]
    lines += [f"  {safe_text(line, _LONGEST_LINE_CHARACTERS)}" for line in step.detail.splitlines()]
    return "\n".join(lines)


def gate_summary(report: GateReport) -> str:
    """One line about all of them."""
    failed = report.failed
    if failed is None:
        return f"stack {report.stack}: every gate holds"
    left = [each.name for each in report.steps if each.result is StepResult.NOT_RUN]
    others = f"; not run: {', '.join(left)}" if left else ""
    return f"stack {report.stack}: {failed.name} failed{others}"


def read_gate(line: bytes) -> GateReport | None:
    """A line of a journal, read again; None for one that is torn or of another version."""
    try:
        read = msgspec.json.decode(line, type=_GateLine)
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
    rows = (
        (each.started_at, _commit_words(each), gate_summary(each).partition(": ")[2])
        for each in reports
    )
    return "".join(f"{line}\n" for line in table(("STARTED", "COMMIT", "RESULT"), rows))


def _commit_words(report: GateReport) -> str:
    commit = report.commit[:_SHORT_DIGITS] or "no commit"
    return f"{commit} dirty" if report.is_dirty else commit


class _GateStepLine(msgspec.Struct, rename="camel"):
    name: str
    result: StepResult
    exit_code: int
    seconds: float
    detail: str


class _GateLine(msgspec.Struct, rename="camel"):
    schema_version: str
    stack: str
    started_at: str
    steps: list[_GateStepLine]
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
        "passed": report.failed is None,
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
