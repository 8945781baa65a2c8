import json

from holdfast.report.gate_report import (
    GateReport,
    GateStep,
    StepResult,
    gate_json,
    gate_line,
    gate_summary,
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


def test_the_first_failure_gives_the_exit_code() -> None:
    assert (FAILED.exit_code, HOLDS.exit_code) == (3, 0)


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
