"""Events: a repetition becomes a series, a flood about one object is cut."""

import json
from typing import Any

import pytest
from holdfast.adapters.cluster import event_recorder
from holdfast.adapters.cluster.event_recorder import BURST, EventRecorder
from holdfast.kube.objects import KubeObject

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure

EVENTS = "/apis/events.k8s.io/v1/namespaces/cx/events"


def agent(name: str = "rag") -> KubeObject:
    metadata = {"name": name, "namespace": "cx", "uid": f"u-{name}"}
    return {"apiVersion": "holdfast.dev/v1alpha1", "kind": "Agent", "metadata": metadata}


class Clock:
    """The time of a recorder; it passes when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(f"{event_recorder.__name__}.time.monotonic", lambda: self.now)


class Recorded:
    """A recorder of Events, and what reached the server."""

    def __init__(self, api: FakeApi, *, may_patch: bool = True) -> None:
        self.api, self.may_patch = api, may_patch
        api.on(EVENTS, Answer({}))
        self.recorder = EventRecorder(api.client(), "holdfast.dev/operator", "pod-1")

    def record(self, note: str = "put back", name: str = "rag") -> bool:
        is_sent = self.recorder.record(agent(name), "Reverted", note, is_warning=False)
        for method, path, _, body in self.api.requests:
            if method == "POST" and path == EVENTS:
                event = f"{EVENTS}/{json.loads(body)['metadata']['name']}"
                self.api.on(event, Answer({}) if self.may_patch else failure(403))
        return is_sent

    @property
    def sent(self) -> list[str]:
        return [method for method, *_ in self.api.requests]

    def last(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.api.requests[-1][3])
        return document


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_repetitions_are_one_event_with_a_series(api: FakeApi, clock: Clock) -> None:
    events = Recorded(api)
    assert [events.record() for _ in range(10)] == [True, True, *[False] * 8]
    assert events.sent == ["POST", "PATCH"]
    assert events.last()["series"]["count"] == 2
    clock.now += 61
    assert events.record()
    assert events.last()["series"]["count"] == 11
    clock.now += 400
    assert events.record()
    assert events.sent[-1] == "POST", "after a long pause it is a new one"


def test_another_note_or_object_is_another_event(api: FakeApi, clock: Clock) -> None:
    events = Recorded(api)
    assert events.record("one")
    assert events.record("two")
    assert events.record("one", name="other")
    assert events.sent == ["POST"] * 3


def test_a_flood_about_one_object_is_cut_and_others_are_heard(api: FakeApi, clock: Clock) -> None:
    events = Recorded(api)
    sent = [events.record(f"turn {number}") for number in range(BURST * 2)]
    assert sent == [True] * BURST + [False] * BURST
    assert events.record("turn", name="other")
    clock.now += 61
    assert events.record("later")
    assert not events.record("still later")


def test_who_wants_no_series_writes_each_event_for_itself(api: FakeApi, clock: Clock) -> None:
    events = Recorded(api)
    events.recorder.has_series = False
    assert [events.record() for _ in range(3)] == [True] * 3
    assert events.sent == ["POST"] * 3


def test_without_the_right_to_patch_a_repetition_is_an_event_of_its_own(
    api: FakeApi, clock: Clock
) -> None:
    events = Recorded(api, may_patch=False)
    events.record()
    events.record()
    assert events.sent == ["POST", "PATCH", "POST"]
