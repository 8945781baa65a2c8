"""What people are told of by Events: each thing once."""

import pytest
from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.loop_events import EventRecord, LoopEvents
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT
from holdfast.controllers.gitops.roles import (
    BlockedReason,
    Comparison,
    DriftedAgent,
    RejectedCommitError,
)
from holdfast.errors import EngineError

FIRST = Commit("1" * 40, "Ann <ann@example.test>", "", "first")
IMAGE = ("Deployment loop/mover", "spec.image")
REPLICAS = ("Deployment loop/mover", "spec.replicas")


def drifted(mode: str, *fields: tuple[str, str]) -> Comparison:
    return Comparison((DriftedAgent("mover", mode, fields),))


class Told:
    """Listens, and keeps what it is told."""

    def __init__(self) -> None:
        self.recorded: list[EventRecord] = []
        self.events = LoopEvents(self.recorded.append)

    @property
    def reasons(self) -> list[str]:
        return [each.reason for each in self.recorded]


def test_an_update_is_reported_with_its_commit_and_author() -> None:
    told = Told()
    told.events.updated(FIRST, "updated mover in 3 s")
    (only,) = told.recorded
    expected = "commit 111111111111 by Ann <ann@example.test>: updated mover in 3 s"
    assert only == EventRecord("Updated", expected)


@pytest.mark.parametrize(
    ("reason", "event"),
    [
        pytest.param("PolicyRefused", "UpdateRefused", id="policy"),
        pytest.param("Unsigned", "UpdateRefused", id="signature"),
        pytest.param("RolledBack", "RolledBack", id="rolled-back"),
    ],
)
def test_what_is_refused_is_reported_once_however_often_it_is_checked(
    reason: str, event: str
) -> None:
    told = Told()
    for _ in range(5):
        told.events.failed(COMMIT, RejectedCommitError("it will not do", reason=reason))
        told.events.reconciled(COMMIT, "rejected", 0.1)
    assert told.reasons == [event]
    assert told.recorded[0].is_warning
    assert "it will not do" in told.recorded[0].note


def test_a_failure_is_reported_again_when_it_comes_again() -> None:
    told = Told()
    for _ in range(3):
        told.events.observed(FIRST, "")
        told.events.failed(COMMIT, EngineError("quota"))
    told.events.observed(FIRST, FIRST.name)
    told.events.failed(COMMIT, EngineError("quota"))
    assert told.reasons == ["UpdateFailed", "UpdateFailed"]


def test_drift_that_stays_is_reported_once_and_what_is_new_beside_it_by_itself() -> None:
    told = Told()
    for _ in range(4):
        told.events.compared(DRIFT, drifted("report", IMAGE))
    told.events.compared("mover", drifted("report", IMAGE, REPLICAS))
    told.events.compared("other", Comparison())
    told.events.compared(DRIFT, drifted("report", IMAGE, REPLICAS))
    assert [each.note for each in told.recorded] == [
        "mover: Deployment loop/mover spec.image; it is only reported",
        "mover: Deployment loop/mover spec.replicas; it is only reported",
    ]


def test_what_is_reverted_each_time_is_reported_each_time_and_the_fight_in_the_end() -> None:
    told = Told()
    for _ in range(2):
        told.events.compared("mover", drifted("revert", IMAGE))
        told.events.remediate("mover", [IMAGE], "revert", "put back 1 fields")
    told.events.conflict_opened(IMAGE)
    assert told.reasons == ["DriftFound", "Reverted", "DriftFound", "Reverted", "ConflictOpened"]


def test_a_proposal_that_waits_is_reported_once() -> None:
    told = Told()
    for _ in range(3):
        told.events.compared(DRIFT, drifted("adopt", IMAGE))
        told.events.remediate("mover", [IMAGE], "adopt", "proposed on a branch")
    assert told.reasons == ["DriftFound", "Proposed"]


def test_a_pause_is_reported_when_it_begins_and_ends_and_a_lock_is_not() -> None:
    told = Told()
    for blocked in (
        None,
        BlockedReason("Locked", "ann"),
        *[BlockedReason("Suspended", "by ann")] * 3,
        None,
    ):
        told.events.waits(blocked)
    assert told.reasons == ["Suspended", "Resumed"]
