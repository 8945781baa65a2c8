"""What is true of a stack that a loop holds, and why."""

from collections.abc import Callable

import pytest
from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT
from holdfast.controllers.gitops.roles import (
    BlockedReason,
    Comparison,
    DriftedAgent,
    RejectedCommitError,
)
from holdfast.errors import ClusterError, EngineError
from holdfast.manifest.publish.resource_interface import STACK_CONDITIONS

FIRST = Commit("1" * 40, "Ann <ann@example.test>", "", "first")
SECOND = Commit("2" * 40, "Ann <ann@example.test>", "", "second")
IMAGE = ("Deployment loop/mover", "spec.image")
REPLICAS = ("Deployment loop/mover", "spec.replicas")
DRIFTED = Comparison((DriftedAgent("mover", "revert", (IMAGE, REPLICAS)),))

Told = Callable[[LoopConditions], None]


def told(conditions: LoopConditions, kind: str) -> tuple[str, str]:
    (found,) = [each for each in conditions.now() if each.type == kind]
    return found.status, found.reason


def running(conditions: LoopConditions) -> None:
    conditions.waits(None)
    conditions.observed(FIRST, FIRST.name)
    conditions.compared(DRIFT, Comparison())


def behind(conditions: LoopConditions) -> None:
    conditions.waits(None)
    conditions.observed(FIRST, "")


def failing(conditions: LoopConditions) -> None:
    behind(conditions)
    conditions.failed(COMMIT, EngineError("quota"))
    behind(conditions)


def unreadable(conditions: LoopConditions) -> None:
    running(conditions)
    conditions.waits(None)
    conditions.failed(COMMIT, ClusterError("cannot be fetched"))


def refused(conditions: LoopConditions) -> None:
    behind(conditions)
    conditions.failed(COMMIT, RejectedCommitError("no-root", reason="PolicyRefused"))
    behind(conditions)


def unsigned(conditions: LoopConditions) -> None:
    running(conditions)
    conditions.waits(None)
    conditions.failed(COMMIT, RejectedCommitError("no signature", reason="Unsigned"))


def suspended(conditions: LoopConditions) -> None:
    running(conditions)
    conditions.waits(BlockedReason("Suspended", "suspended by ann"))


@pytest.mark.parametrize(
    ("happens", "synced", "stalled"),
    [
        pytest.param(lambda _: None, ("Unknown", "NotRead"), ("False", "Working"), id="new"),
        pytest.param(running, ("True", "AtCommit"), ("False", "Working"), id="running"),
        pytest.param(behind, ("False", "Behind"), ("False", "Working"), id="behind"),
        pytest.param(failing, ("False", "UpdateFailed"), ("False", "Retrying"), id="failing"),
        pytest.param(unreadable, ("Unknown", "CannotRead"), ("False", "Retrying"), id="unreadable"),
        pytest.param(refused, ("False", "PolicyRefused"), ("True", "PolicyRefused"), id="refused"),
        pytest.param(unsigned, ("False", "Unsigned"), ("True", "Unsigned"), id="unsigned"),
        pytest.param(suspended, ("Unknown", "Suspended"), ("True", "Suspended"), id="suspended"),
    ],
)
def test_a_loop_says_whether_the_wanted_commit_runs_and_why_not(
    happens: Told, synced: tuple[str, str], stalled: tuple[str, str]
) -> None:
    conditions = LoopConditions()
    happens(conditions)
    assert told(conditions, "Synced") == synced
    assert told(conditions, "Stalled") == stalled


def test_another_commit_ends_what_was_known_against_the_last_one() -> None:
    conditions = LoopConditions()
    refused(conditions)
    conditions.observed(SECOND, "")
    assert told(conditions, "Synced") == ("False", "Behind")
    conditions.updated(SECOND, "updated mover")
    assert told(conditions, "Synced") == ("True", "AtCommit")
    assert (conditions.wanted, conditions.running) == (SECOND.name, SECOND.name)


def test_drift_is_true_until_it_is_reverted_and_unknown_where_nothing_was_seen() -> None:
    conditions = LoopConditions()
    assert told(conditions, "Drifted") == ("Unknown", "NotCompared")
    conditions.compared(DRIFT, DRIFTED)
    assert told(conditions, "Drifted") == ("True", "Drift")
    conditions.remediate("mover", [IMAGE], "revert", "put back 1 fields")
    assert told(conditions, "Drifted") == ("True", "Drift")
    conditions.remediate("mover", [REPLICAS], "adopt", "proposed on a branch")
    assert told(conditions, "Drifted") == ("True", "Drift"), "proposed is not put back"
    conditions.remediate("mover", [REPLICAS], "revert", "put back 1 fields")
    assert told(conditions, "Drifted") == ("False", "InSync")
    conditions.compared(DRIFT, Comparison(unseen=("apps/v1 Deployment: forbidden",)))
    assert told(conditions, "Drifted") == ("Unknown", "CannotSee")
    conditions.compared(DRIFT, Comparison())
    conditions.failed("mover", ClusterError("no answer"))
    assert told(conditions, "Drifted") == ("Unknown", "CannotSee")
    conditions.compared("mover", Comparison())
    assert told(conditions, "Drifted") == ("False", "InSync")


def test_a_check_one_agent_says_nothing_of_the_others() -> None:
    conditions = LoopConditions()
    conditions.compared("other", Comparison())
    assert told(conditions, "Drifted") == ("Unknown", "NotCompared")
    conditions.compared(DRIFT, DRIFTED)
    conditions.compared("other", Comparison())
    assert told(conditions, "Drifted") == ("True", "Drift")


def test_a_fight_makes_it_unstable_until_it_is_closed() -> None:
    conditions = LoopConditions()
    conditions.conflicts_are([IMAGE])
    assert told(conditions, "Stable") == ("False", "Conflict")
    conditions.conflicts_are([])
    assert told(conditions, "Stable") == ("True", "NoConflicts")


@pytest.mark.parametrize("happens", [running, failing, unreadable, refused, unsigned, suspended])
def test_the_same_look_again_changes_nothing(happens: Told) -> None:
    conditions = LoopConditions()
    happens(conditions)
    before = conditions.now()
    happens(conditions)
    assert conditions.now() == before


def test_of_a_loop_that_has_ended_nothing_is_known() -> None:
    conditions = LoopConditions()
    running(conditions)
    conditions.end()
    assert [(each.type, each.status, each.reason) for each in conditions.now()] == [
        (kind, "Unknown", "LoopEnded") for kind in STACK_CONDITIONS
    ]
