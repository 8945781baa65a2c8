"""How a stack is, as people and programs read it."""

import json

import pytest
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState
from holdfast.errors import ExitCode
from holdfast.kube.workload_status import HEALTHY, Health, HealthVerdict
from holdfast.report.text.status_text import AgentReport, StackReport, status_json, status_text

UPDATE = UpdateRecord(
    action="promote",
    stack="prod",
    outcome="succeeded",
    commit="0123456789abcdef",
    operator="ci-7",
    started_at="2026-11-22T01:00:00Z",
)
SLOW = HealthVerdict(Health.PROGRESSING, "1 of 2 pods are ready")


def report(
    sync: AgentState, health: HealthVerdict = HEALTHY, not_checked: tuple[str, ...] = ()
) -> StackReport:
    agent = AgentReport("mover", "cx", "1.1.0", "1.0.0", sync, health, UPDATE, ())
    return StackReport("prod", UPDATE, (agent,), not_checked)


def test_a_line_says_what_runs_and_what_was_declared() -> None:
    assert status_text(report(AgentState.SYNCED, SLOW, ("Secret cx/key: forbidden",))) == (
        "stack prod: commit 0123456789ab, promote by ci-7, 2026-11-22T01:00:00Z\n"
        "mover  Synced     Progressing  1.0.0 (declared 1.1.0)  "
        "changed by 0123456789ab, 2026-11-22T01:00:00Z\n"
        "  1 of 2 pods are ready\n"
        "not checked: Secret cx/key: forbidden\n"
    )


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param(report(AgentState.SYNCED), ExitCode.OK, id="fine"),
        pytest.param(report(AgentState.OUT_OF_SYNC, SLOW), ExitCode.DRIFT, id="drift"),
        pytest.param(report(AgentState.SYNCED, SLOW), ExitCode.ERROR, id="not healthy"),
        pytest.param(report(AgentState.UNKNOWN), ExitCode.ERROR, id="not known"),
        pytest.param(
            report(AgentState.SYNCED, not_checked=("x",)), ExitCode.ERROR, id="not all was seen"
        ),
    ],
)
def test_only_what_is_known_to_be_fine_is_fine(given: StackReport, code: ExitCode) -> None:
    assert given.exit_code is code


def test_the_same_is_told_to_programs() -> None:
    told = json.loads(status_json(report(AgentState.SYNCED, SLOW)))
    assert told["commit"] == UPDATE.commit
    (agent,) = told["agents"]
    assert agent["version"] == {"declared": "1.1.0", "live": "1.0.0"}
    assert (agent["health"], agent["reason"]) == ("Progressing", SLOW.reason)


def test_a_stack_without_an_update_says_so() -> None:
    assert status_text(StackReport("prod", None, ())) == "stack prod: no good update is known\n"
