"""What the last update recorded is read only of objects that somebody looks at."""

from collections.abc import Callable

import pytest
from holdfast.drift.context import DriftContext, RecordedObjects, recorded_uid
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftClass, Objects
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import Identity, KubeObject, reference_of

from tests.unit.drift.objects import DEPLOYMENT, edit

IDENTITY = reference_of(DEPLOYMENT).identity


def with_uid(uid: str, **edits: object) -> KubeObject:
    return edit(DEPLOYMENT, {"metadata.uid": uid, **{f"spec.{key}": edits[key] for key in edits}})


def recorded(uid: str, read: Callable[[], KubeObject]) -> RecordedObjects:
    return RecordedObjects({IDENTITY: read}, {IDENTITY: uid})


def never() -> KubeObject:
    raise AssertionError("nobody needs it")


def classes(live: KubeObject, baseline: Objects) -> list[str]:
    context = DriftContext(autoscalers=Autoscalers(()), baseline=baseline)
    report = DriftJudge([DEPLOYMENT], context).report(LiveState({IDENTITY: live}))
    return [each.drift_class for each in report.findings]


def test_of_an_object_in_sync_the_uid_is_enough() -> None:
    assert classes(with_uid("1"), recorded("1", never)) == []
    assert classes(with_uid("2"), recorded("1", never)) == [DriftClass.RECREATED]
    assert classes(with_uid("2"), recorded("", never)) == []


def test_of_one_that_moved_it_is_read_and_says_the_same_as_if_it_had_been() -> None:
    before = with_uid("1", replicas=2)
    moved = with_uid("1", replicas=3, paused=True)
    asked: list[str] = []

    def read() -> KubeObject:
        asked.append("read")
        return before

    late = classes(moved, recorded("1", read))
    assert late == classes(moved, {IDENTITY: before})
    assert late == [DriftClass.ADDED, DriftClass.CHANGED]
    assert asked


@pytest.mark.parametrize("uid", ["", "1"])
def test_a_plain_mapping_tells_the_same_uid(uid: str) -> None:
    one = with_uid(uid)
    assert recorded_uid({IDENTITY: one}, IDENTITY) == uid
    assert recorded_uid(recorded(uid, never), IDENTITY) == uid
    assert recorded_uid(None, IDENTITY) == ""
    assert recorded_uid(RecordedObjects({}, {}), IDENTITY) == ""


def test_it_is_a_mapping() -> None:
    one = recorded("1", lambda: DEPLOYMENT)
    assert dict(one) == {IDENTITY: DEPLOYMENT}
    assert len(one) == 1
    assert one.get(Identity("", "", "", "")) is None
