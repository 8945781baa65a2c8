"""How a stack is, as people and programs read it."""

import json
from dataclasses import replace

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState, NotChecked
from holdfast.kube.workload_status import HEALTHY, Health, HealthVerdict
from holdfast.operations.describe.fleet import StackStatus
from holdfast.report.text.status_text import status_json, status_text

from tests.unit.report.fleets import agent as declared
from tests.unit.report.reports import CONFIG

UPDATE = UpdateRecord(
    action="promote",
    stack="prod",
    outcome="succeeded",
    commit="0123456789abcdef",
    operator="ci-7",
    started_at="2026-11-22T01:00:00Z",
)
SLOW = HealthVerdict(Health.PROGRESSING, "1 of 2 pods are ready")


KEY = NotChecked("Secret cx/key", "forbidden")


def report(
    sync: AgentState, health: HealthVerdict = HEALTHY, *not_checked: NotChecked
) -> StackStatus:
    versions = {"version": "1.1.0", "live_version": "1.0.0"}
    agent = declared("mover", **versions, sync=sync, health=health, update=UPDATE)
    return StackStatus("prod", UPDATE, (agent,), not_checked=not_checked)


def test_a_line_says_what_runs_and_what_was_declared() -> None:
    assert status_text(report(AgentState.SYNCED, SLOW, KEY)) == (
        "stack prod: commit 0123456789ab, promote by ci-7, 2026-11-22T01:00:00Z\n"
        "AGENT  SYNC    HEALTH       VERSION                 COMMIT        UPDATED\n"
        "mover  Synced  Progressing  1.0.0 (declared 1.1.0)  0123456789ab  2026-11-22T01:00:00Z\n"
        "  1 of 2 pods are ready\n"
        "not checked: Secret cx/key: forbidden\n"
    )


def test_the_same_is_reported_to_programs() -> None:
    told = json.loads(status_json(report(AgentState.SYNCED, SLOW)))
    assert told["commit"] == UPDATE.commit
    (agent,) = told["agents"]
    assert agent["version"] == {"declared": "1.1.0", "live": "1.0.0"}
    assert (agent["health"], agent["reason"]) == ("Progressing", SLOW.reason)


def test_a_stack_without_an_update_says_so() -> None:
    assert status_text(StackStatus("prod", None, ())) == "stack prod: no good update is known\n"


def test_drift_that_belongs_to_no_agent_stands_after_the_agents() -> None:
    given = replace(report(AgentState.SYNCED), drift=(CONFIG,))
    assert f"drift that belongs to no agent\n  medium  {CONFIG.ref}  " in status_text(given)
    (listed,) = json.loads(status_json(given))["drift"]
    assert listed["object"]["kind"] == CONFIG.ref.kind
