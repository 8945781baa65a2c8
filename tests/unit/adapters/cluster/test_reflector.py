"""One watch against an API server that answers what a test tells it to."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from holdfast.adapters.cluster import backoff, bodies, reflector
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    StreamInterrupted,
    WatchedKind,
    WatchLost,
    WatchRecovered,
    WatchScope,
)
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.cluster_watch import ClusterWatch, scopes_of
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.adapters.cluster.reflector import Reflector, WatchConfig
from holdfast.errors import InputError
from holdfast.kube.objects import Identity, ObjectRef
from holdfast.kube.structure import builtin_kind

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, page

PATH = "/api/v1/namespaces/cx/configmaps"


def config_map(name: str, version: str, namespace: str = "cx") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "resourceVersion": version}}


def lines(*events: tuple[str, dict[str, Any]]) -> Answer:
    text = "\n".join(json.dumps({"type": kind, "object": one}) for kind, one in events)
    return Answer(f"{text}\n".encode())


BOOKMARK = ("BOOKMARK", {"metadata": {"resourceVersion": "90"}})
EXPIRED = ("ERROR", {"kind": "Status", "code": 410, "message": "too old"})
FAULT = ("ERROR", {"kind": "Status", "code": 500, "message": "etcd is away"})


def kind(*namespaces: str, **more: Any) -> WatchedKind:
    refs = tuple(ObjectRef(namespace, "ConfigMap", "one", "v1") for namespace in namespaces)
    return WatchedKind(builtin_kind("v1", "ConfigMap"), refs, **more)


@contextmanager
def told(api: FakeApi, watched: WatchedKind, **known: str) -> Iterator[Callable[[], Change]]:
    """What a watch tells, one change after the other; the plan is left out."""
    with watch_of(api, watched, **known) as (_, change):
        yield change


@contextmanager
def watch_of(
    api: FakeApi, watched: WatchedKind, **known: str
) -> Iterator[tuple[ClusterWatch, Callable[[], Change]]]:
    """A watch under way, and what it tells."""
    inbox: queue.SimpleQueue[Change] = queue.SimpleQueue()
    versions = {Identity("", "ConfigMap", "cx", name): version for name, version in known.items()}
    watch = ClusterWatch(WatchConfig(api.client(), inbox.put, versions, silence_seconds=2.0))
    watch.follow([watched])
    assert isinstance(inbox.get(timeout=5), Planned)
    try:
        yield watch, lambda: inbox.get(timeout=5)
    finally:
        watch.stop()


def test_a_list_then_every_event_from_its_version_on(api: FakeApi) -> None:
    events = [("MODIFIED", config_map("one", "8")), ("DELETED", config_map("one", "9")), BOOKMARK]
    api.on(PATH, page(config_map("one", "7")), lines(*events), lines(BOOKMARK))
    with told(api, kind("cx")) as change:
        snapshot, modified, deleted = change(), change(), change()
    assert isinstance(snapshot, Snapshot)
    assert [key[3] for key in snapshot.listing.objects] == ["one"]
    assert isinstance(modified, Moved)
    assert (modified.version, modified.live is None) == ("8", False)
    assert isinstance(deleted, Moved)
    assert deleted.live is None
    queries = [query for _, _, query, _ in api.requests if query.get("watch")]
    assert queries[0]["resourceVersion"] == "1"
    assert queries[0]["allowWatchBookmarks"] == "true"
    assert all(query["resourceVersion"] == "90" for query in queries[1:])


@pytest.mark.parametrize("expired", [failure(410), lines(EXPIRED)], ids=["status", "event"])
def test_an_expired_version_begins_again_with_a_list(api: FakeApi, expired: Answer) -> None:
    before, after = (page(config_map("one", version)) for version in "78")
    api.on(PATH, before, expired, after, lines(BOOKMARK))
    with told(api, kind("cx")) as change:
        first, broken, second = change(), change(), change()
    assert isinstance(first, Snapshot)
    assert isinstance(broken, StreamInterrupted)
    assert "410" in broken.reason
    assert isinstance(second, Snapshot)
    assert second.is_restart


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(lines(FAULT), "the server ended it with 500 etcd is away", id="fault"),
        pytest.param(Answer(b"{half a line\n"), "a line that cannot be read", id="no JSON"),
        pytest.param(Answer(b'{"type":"ADDED"}\n'), "a line that cannot be read", id="no object"),
    ],
)
def test_a_broken_stream_goes_on_where_it_was(api: FakeApi, line: Answer, reason: str) -> None:
    api.on(PATH, page(config_map("one", "7")), line, lines(("MODIFIED", config_map("one", "8"))))
    with told(api, kind("cx")) as change:
        assert isinstance(change(), Snapshot)
        broken, moved = change(), change()
    assert isinstance(broken, StreamInterrupted)
    assert reason in broken.reason
    assert isinstance(moved, Moved)
    assert [query.get("watch") for _, _, query, _ in api.requests[:3]] == [None, "true", "true"]


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        pytest.param(failure(403), "grant list and watch on configmaps in namespace cx", id="403"),
        pytest.param(failure(404), "the server does not serve configmaps", id="404"),
        pytest.param(failure(401), "does not accept the credentials", id="401"),
        pytest.param(failure(500, "etcd"), "500 etcd", id="500"),
        pytest.param(Answer(hang_up=True), "no answer from", id="down"),
    ],
)
def test_who_may_not_watch_is_blind_until_it_may(
    api: FakeApi, refusal: Answer, reason: str
) -> None:
    again = page(config_map("one", "7")) if refusal.status == 404 else lines(BOOKMARK)
    api.on(PATH, page(config_map("one", "7")), refusal, again, lines(BOOKMARK))
    with told(api, kind("cx")) as change:
        assert isinstance(change(), Snapshot)
        blind, sighted = change(), change()
    assert isinstance(blind, WatchLost)
    assert reason in blind.reason
    assert isinstance(sighted, Snapshot if refusal.status == 404 else WatchRecovered)


def test_everything_is_listed_again_when_asked_for_although_the_stream_is_well(
    api: FakeApi,
) -> None:
    release = threading.Event()
    silent = Answer(b"", hold=release)
    api.on(PATH, page(config_map("one", "7")), silent, page(config_map("one", "8")), silent)
    with watch_of(api, kind("cx")) as (watch, change):
        assert isinstance(change(), Snapshot)
        while len(api.requests) < 2:
            time.sleep(0.01)
        time.sleep(0.1)
        watch.list_again()
        snapshot = change()
        release.set()
    assert isinstance(snapshot, Snapshot)
    assert snapshot.is_restart


def test_what_is_known_is_not_decoded_again(api: FakeApi) -> None:
    api.on(PATH, page(config_map("one", "7"), config_map("two", "8")), lines(BOOKMARK))
    with told(api, kind("cx"), one="7", two="6") as change:
        snapshot = change()
    assert isinstance(snapshot, Snapshot)
    assert [key[3] for key in snapshot.listing.unchanged] == ["one"]
    assert [key[3] for key in snapshot.listing.objects] == ["two"]


def test_objects_of_other_namespaces_are_passed_over(api: FakeApi) -> None:
    everywhere = "/api/v1/configmaps"
    api.on(everywhere, page(), page(), lines(("ADDED", config_map("x", "5", "else")),
           ("ADDED", config_map("y", "6", "ops"))))  # fmt: skip
    with told(api, kind("cx", "ops", is_declared=False)) as change:
        snapshot, moved = change(), change()
    assert isinstance(snapshot, Snapshot)
    assert isinstance(moved, Moved)
    assert moved.identity == ("", "ConfigMap", "ops", "y")


@pytest.mark.parametrize(
    ("answer", "namespaces"),
    [
        pytest.param(page(), [""], id="whole cluster"),
        pytest.param(failure(403), ["cx", "ops"], id="forbidden"),
        pytest.param(page(more="x", remaining=5000), ["cx", "ops"], id="crowded"),
        pytest.param(failure(404), [""], id="not served"),
    ],
)
def test_several_namespaces_are_one_stream_where_that_may_be(
    api: FakeApi, answer: Answer, namespaces: list[str]
) -> None:
    api.on("/api/v1/configmaps", answer)
    assert [place.namespace for place in scopes_of(api.client(), kind("cx", "ops"))] == namespaces


def test_a_silent_stream_is_blind_then_listed_again(api: FakeApi) -> None:
    release = threading.Event()
    api.on(PATH, page(config_map("one", "7")), Answer(b"", hold=release), page(), lines(BOOKMARK))
    api.on(f"{PATH}/one", failure(404))
    with told(api, kind("cx")) as change:
        assert isinstance(change(), Snapshot)
        blind, snapshot = change(), change()
        release.set()
    assert isinstance(blind, WatchLost)
    assert "no data for 2 s" in blind.reason
    assert isinstance(snapshot, Snapshot)
    assert snapshot.listing.objects == {}


def test_a_kind_that_is_not_served_is_blind_and_not_empty(api: FakeApi) -> None:
    refs = (ObjectRef("cx", "Widget", "w", "x.example/v1"),)
    with told(api, WatchedKind(None, refs)) as change:
        blind = change()
    assert isinstance(blind, WatchLost)
    assert blind.reason == "the server does not serve x.example/v1"


class Waits(threading.Event):
    """Notes how long it would have been waited for, and is set after some waits."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self._most = most

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        if len(self.seconds) == self._most:
            self.set()
        return self.is_set()


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(lines(BOOKMARK), id="closed at once"),
        pytest.param(failure(410), id="expired after every LIST"),
        pytest.param(failure(500), id="refused"),
    ],
)
def test_lists_and_watches_back_off_until_a_stream_has_lived(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, stream: Answer
) -> None:
    monkeypatch.setattr(backoff, "STREAMS", Backoff(0.8, 30.0, jitter=0.0))
    stopping, heard = Waits(8), list[Change]()
    config = WatchConfig(api.client(), heard.append, {}, stopping=stopping)
    api.on(PATH, page())
    api.on(f"{PATH}?watch", stream)
    Reflector(WatchScope(kind("cx"), "ConfigMap", "cx"), config).run()
    assert stopping.seconds == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    assert any(isinstance(each, WatchLost) for each in heard), "it is said that nothing is seen"


def test_whatever_ends_a_stream_is_unknown_and_followed_again(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kubeconfig that is being rewritten is no answer of the cluster, and ends no watch."""

    def log_in_again() -> Connection:
        raise InputError("kubeconfig: no such context")

    client = ApiClient(Connection(api.url, token="old"), log_in_again=log_in_again)
    one = page(config_map("one", "7"))
    api.on(PATH, one, failure(401), lines(("MODIFIED", config_map("one", "8"))), lines(BOOKMARK))
    inbox: queue.SimpleQueue[Change] = queue.SimpleQueue()
    watch = ClusterWatch(WatchConfig(client, inbox.put, {}))
    watch.follow([kind("cx")])
    heard = [inbox.get(timeout=5) for _ in range(5)]
    watch.stop()
    planned, snapshot, lost, recovered, moved = heard
    assert isinstance(planned, Planned)
    assert isinstance(snapshot, Snapshot)
    assert isinstance(lost, WatchLost)
    assert lost.reason == "kubeconfig: no such context"
    assert isinstance(recovered, WatchRecovered)
    assert isinstance(moved, Moved)


def test_a_defect_in_a_reflector_is_unknown_and_read_again(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    defects = iter([ValueError("no number: 'hunter2'")])
    decode = bodies.decode_line

    def decode_line(line: bytes) -> Any:
        for defect in defects:
            raise defect
        return decode(line)

    monkeypatch.setattr(reflector, "decode_line", decode_line)
    one = page(config_map("one", "7"))
    api.on(PATH, one, lines(BOOKMARK), one, lines(("MODIFIED", config_map("one", "8"))))
    with told(api, kind("cx")) as change:
        heard = [change() for _ in range(4)]
    assert isinstance(heard[1], WatchLost)
    assert "ValueError: no number: '...'" in heard[1].reason
    assert "hunter2" not in heard[1].reason
    assert isinstance(heard[2], Snapshot)
    assert isinstance(heard[3], Moved)


def test_planning_is_repeated_when_its_answer_cannot_be_read(api: FakeApi) -> None:
    everywhere = "/api/v1/configmaps"
    api.on(everywhere, Answer(b"<html>log in</html>"), page(), page(), lines(BOOKMARK))
    with told(api, kind("cx", "ops", is_declared=False)) as change:
        lost, planned, snapshot = change(), change(), change()
    assert isinstance(lost, WatchLost)
    assert isinstance(planned, Planned)
    assert isinstance(snapshot, Snapshot)


def test_a_definition_that_is_installed_later_is_noticed(api: FakeApi) -> None:
    widgets = "/apis/x.example/v1/namespaces/cx/widgets"
    served = {"resources": [{"name": "widgets", "kind": "Widget", "namespaced": True}]}
    api.on("/apis/x.example/v1", failure(404), Answer(served))
    api.on(widgets, page(), page(), lines(BOOKMARK))
    refs = (ObjectRef("cx", "Widget", "", "x.example/v1"),)
    with told(api, WatchedKind(None, refs)) as change:
        lost, planned, snapshot = change(), change(), change()
    assert isinstance(lost, WatchLost)
    assert lost.reason == "the server does not serve x.example/v1"
    assert isinstance(planned, Planned)
    assert planned.kind.entry is not None
    assert planned.kind.entry.plural == "widgets"
    assert isinstance(snapshot, Snapshot)


def test_scopes_are_listed_again_one_after_the_other(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = WatchConfig(api.client(), lambda _: None, {})
    scopes = [WatchScope(kind(name), "ConfigMap", name) for name in ("cx", "ops")]
    watch, listed = ClusterWatch(config), list[str]()
    watch.list_next()
    for scope in scopes:
        one = Reflector(scope, config)
        monkeypatch.setattr(one, "list_again", partial(listed.append, scope.namespace))
        watch._reflectors.append(one)
    for _ in range(4):
        watch.list_next()
    assert listed == ["ops", "cx", "ops", "cx"]


def test_a_scope_whose_streams_keep_breaking_is_listed_again(api: FakeApi) -> None:
    one = page(config_map("one", "7"))
    api.on(PATH, one)
    api.on(f"{PATH}?watch", Answer(b"{half a line\n"))
    with told(api, kind("cx")) as change:
        heard = [change() for _ in range(5)]
    assert isinstance(heard[0], Snapshot)
    assert [type(each) for each in heard[1:4]] == [StreamInterrupted] * 3
    assert isinstance(heard[4], Snapshot)


def test_a_scope_that_could_not_be_read_for_long_goes_on_without_a_list(api: FakeApi) -> None:
    api.on(PATH, page(config_map("one", "7")))
    gone_on = lines(("MODIFIED", config_map("one", "8")))
    api.on(f"{PATH}?watch", *[failure(500)] * 40, gone_on)
    with told(api, kind("cx")) as change:
        heard = [change()]
        while not isinstance(heard[-1], Moved):
            heard.append(change())
    assert [type(each) for each in heard if not isinstance(each, WatchLost)] == [
        Snapshot, WatchRecovered, Moved,
    ]  # fmt: skip
