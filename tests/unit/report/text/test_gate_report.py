import json
from dataclasses import replace

from holdfast.operations.validate.gates import GateReport, GateStep, StepResult
from holdfast.report.text.gate_report import (
    gate_json,
    gate_line,
    gate_summary,
    gates_text,
    read_gate,
)

FAILED = GateReport(
    "prod",
    "2026-11-22T00:00:00Z",
    (
        GateStep("validate", StepResult.PASSED, seconds=0.1),
        GateStep("unit", StepResult.FAILED, 3, 2.0, "make ended\nwith \x1b[31mcode 3"),
        GateStep("preview", StepResult.NOT_RUN),
    ),
)
HOLDS = GateReport("prod", "2026-11-22T00:00:00Z", FAILED.steps[:1])


def test_people_read_what_failed_and_what_was_not_run() -> None:
    assert gate_line(FAILED.steps[1]) == "unit: failed\n  make ended\n  with \\e[31mcode 3"
    assert gate_summary(FAILED) == "stack prod: unit failed; not run: preview"
    assert gate_summary(HOLDS) == "stack prod: every gate holds"


def test_programs_read_every_step() -> None:
    document = json.loads(gate_json(FAILED))
    assert document == json.loads(gate_json(FAILED, is_one_line=True))
    assert document["passed"] is False
    assert [each["result"] for each in document["steps"]] == ["passed", "failed", "not run"]
    assert "\n" not in gate_json(FAILED, is_one_line=True)


def test_a_line_of_the_journal_is_read_back_and_a_torn_one_is_not() -> None:
    report = replace(FAILED, commit="a" * 40, is_dirty=True)
    line = gate_json(report, is_one_line=True).encode()
    assert read_gate(line) == report
    assert read_gate(line[:-9]) is None
    assert read_gate(line.replace(b"gate/v1", b"gate/v2")) is None


def test_people_read_a_line_for_each_time() -> None:
    report = replace(FAILED, commit="a" * 40, is_dirty=True)
    assert gates_text([HOLDS, report]) == (
        "STARTED               COMMIT              RESULT\n"
        "2026-11-22T00:00:00Z  no commit           every gate holds\n"
        "2026-11-22T00:00:00Z  aaaaaaaaaaaa dirty  unit failed; not run: preview\n"
    )
