"""The loop with a cluster that a test plays: changes in, turns and states out."""

import time

import pytest
from holdfast.adapters.cluster.changes import Planned, WatchLost, WatchRecovered
from holdfast.controllers.watch.inputs import Activity
from holdfast.controllers.watch.loop import WatchLoop
from holdfast.drift.finding import DriftReport, NotChecked
from holdfast.drift.record.watch_report import Status
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.errors import InputError
from holdfast.kube.objects import Identity, KubeObject

from tests.unit.controllers.watch.played_cluster import (
    Played,
    kind_of,
    place_of,
    running,
    versioned,
)
from tests.unit.drift.objects import DEPLOYMENT, edit, identity, live_of

CONFIG: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "support", "namespace": "cx"},
    "data": {"a": "b"},
}


def test_nothing_is_in_sync_before_everything_was_read() -> None:
    with running(Played([CONFIG, DEPLOYMENT])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        assert played.wait_for_status(Status.UNKNOWN).not_checked != ()
        played.show(DEPLOYMENT, live_of(DEPLOYMENT))
        played.wait_for_status(Status.IN_SYNC)
    assert [state.status for state in played.states] == [Status.UNKNOWN, Status.IN_SYNC]


def test_drift_opens_and_closes_with_one_look_each() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        # At once, while the place still waits to be judged: the order counts.
        played.move(CONFIG, edit(CONFIG, {"data.a": "x"}))
        assert played.wait_for_status(Status.DRIFT).findings == 1
        played.move(CONFIG, versioned(CONFIG, "10"), "10")
        played.wait_for_status(Status.IN_SYNC)
    assert played.turns == [("opened", "support"), ("closed", "support")]
    assert len({look.identifier for look in played.evaluations}) == len(played.evaluations)


def test_the_same_version_heard_again_is_no_news() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
        played.move(CONFIG, versioned(CONFIG, "1"), "1")
        time.sleep(0.3)
    assert played.evaluations == []


def test_what_was_reverted_within_a_moment_is_reported_with_its_dwell_time() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
        played.move(CONFIG, edit(CONFIG, {"data.a": "x"}), "2")
        played.move(CONFIG, versioned(CONFIG, "3"), "3")
        played.wait(lambda: len(played.turns) == 2)
    assert played.turns == [("opened", "support"), ("closed", "support")]
    (look,) = played.evaluations
    assert look.changes == 2
    assert 0 <= look.events[1].dwell_seconds < 1
    assert played.states[-1].status is Status.IN_SYNC


def test_a_deleted_object_is_missing_and_so_is_one_that_a_list_no_longer_shows() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.move(CONFIG, None)
        assert played.wait_for_status(Status.DRIFT).findings == 1
        played.show(CONFIG, versioned(CONFIG, "11"))
        played.wait_for_status(Status.IN_SYNC)
        played.show(CONFIG)
        played.wait_for_status(Status.DRIFT)
    assert [turn for turn, _ in played.turns] == ["opened", "closed", "opened"]


def test_blind_is_unknown_and_never_in_sync_until_it_is_seen_again() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
        played.tell(WatchLost(place_of(kind_of(CONFIG)), "no data for 90 s"))
        state = played.wait_for_status(Status.UNKNOWN)
        assert state.not_checked == (NotChecked("ConfigMap in cx", "no data for 90 s"),)
        played.tell(WatchRecovered(place_of(kind_of(CONFIG))))
        played.wait_for_status(Status.IN_SYNC)


def test_what_could_not_be_confirmed_is_unknown_and_not_missing() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, unread="500 etcd")
        played.wait(lambda: played.states and played.states[-1].not_checked[0].reason == "500 etcd")
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
    assert played.turns == []


def test_what_an_update_moves_is_no_drift_and_what_it_recorded_is_wanted_from_then_on() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
        played.now = Activity("", is_under_way=True)
        played.wait_for_status(Status.UNKNOWN)
        changed = edit(CONFIG, {"data.a": "new"})
        played.move(CONFIG, versioned(changed, "2"), "2")
        played.desired = [changed]
        played.now = Activity("update-2")
        played.wait(lambda: played.loads == 2)
        played.show(CONFIG, versioned(changed, "2"))
        played.wait_for_status(Status.IN_SYNC)
    assert played.turns == []


def test_a_lock_that_goes_without_a_record_lets_the_declaration_be_read_again() -> None:
    played = Played([CONFIG], now=Activity("update-1", is_under_way=True))
    with running(played):
        played.now = Activity("update-1")
        played.wait(lambda: played.loads == 2)
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)


def test_a_declaration_that_cannot_be_read_again_is_unknown() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
        played.failure = InputError("agents/x.yaml:3: no such field")
        played.now = Activity("update-2")
        state = played.wait_for_status(Status.UNKNOWN)
    assert state.not_checked[0].reason == "agents/x.yaml:3: no such field"


def test_at_the_start_it_is_an_error() -> None:
    played = Played([CONFIG], failure=InputError("no"))
    with pytest.raises(InputError, match="no"):
        WatchLoop(played, [played.heard], 600).run()


def test_an_object_that_cannot_be_read_is_unknown_and_tried_again() -> None:
    played = Played([DEPLOYMENT], live={identity(DEPLOYMENT): None})
    with running(played):
        played.show(DEPLOYMENT, live_of(DEPLOYMENT))
        played.wait_for_status(Status.IN_SYNC)
        played.entered.add(identity(DEPLOYMENT))  # judged again, and read for that
        assert played.wait_for_status(Status.UNKNOWN).not_checked[0].reason == "away"
        played.entered.clear()
        played.live[identity(DEPLOYMENT)] = live_of(DEPLOYMENT)
        played.wait_for_status(Status.IN_SYNC)


def test_an_object_that_cannot_be_judged_is_not_checked_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = DriftJudge.report
    bad = identity(DEPLOYMENT)

    def judge(self: DriftJudge, live: LiveState, only: frozenset[Identity]) -> DriftReport:
        if bad in only:
            raise ValueError("beyond us: 'hunter2'")
        return report(self, live, only)

    monkeypatch.setattr(DriftJudge, "report", judge)
    played = Played([CONFIG, DEPLOYMENT], live={bad: live_of(DEPLOYMENT)})
    with running(played):
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.show(DEPLOYMENT, live_of(DEPLOYMENT))
        played.wait(
            lambda: any("beyond us" in each.reason for each in played.states[-1].not_checked)
        )
        assert "hunter2" not in str(played.states[-1])
        played.move(CONFIG, edit(CONFIG, {"data.a": "x"}))
        played.wait(lambda: played.turns == [("opened", "support")])
        monkeypatch.setattr(DriftJudge, "report", report)
        played.wait_for_status(Status.DRIFT)


def test_a_kind_that_is_served_later_lets_the_declaration_be_read_again() -> None:
    with running(Played([CONFIG])) as played:
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.wait_for_status(Status.IN_SYNC)
        kind = kind_of(CONFIG)
        played.tell(Planned(kind, (place_of(kind),)))
        played.show(CONFIG, versioned(CONFIG, "2"))
        played.wait_for_status(Status.IN_SYNC)
        assert played.loads == 1, "it was served before"
    played = Played([CONFIG], serves=False)
    with running(played):
        played.tell(Planned(kind, (place_of(kind),)))
        played.wait(lambda: played.loads == 2)


def test_a_session_in_a_pod_is_reported_until_the_pod_is_gone() -> None:
    pod: KubeObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "support-1", "namespace": "cx", "ownerReferences": [{"name": "x"}]},
    }
    beside = kind_of(pod, is_declared=False)
    played = Played([CONFIG], (beside,), live={identity(pod): pod})
    with running(played):
        played.show(CONFIG, versioned(CONFIG, "1"))
        played.show(pod, versioned(pod, "1"))
        played.wait_for_status(Status.IN_SYNC)
        played.entered.add(identity(pod))
        played.wait(lambda: played.turns == [("opened", "support-1")])
        played.move(pod, None)
        played.wait(lambda: played.turns[1:] == [("closed", "support-1")])
    assert [state.status for state in played.states][-1] is Status.IN_SYNC
