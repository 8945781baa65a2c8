"""The board of a watch: what a LIST does not show any more is gone, however the stream ended."""

from holdfast.adapters.cluster.changes import Moved, Snapshot, WatchedKind, WatchLost, WatchScope
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.controllers.operator.object_store import ObjectStore
from holdfast.kube.objects import Identity, KubeObject, ObjectRef

KIND = WatchedKind(None, (ObjectRef("", "Service", "", "v1"),))
PLACE = WatchScope(KIND, "Service")


def service(name: str, version: str) -> KubeObject:
    labels = {"holdfast.dev/agent": name}
    return {"metadata": {"name": name, "resourceVersion": version, "labels": labels}}


def identity(name: str) -> Identity:
    return Identity("", "Service", "cx", name)


def snapshot(*objects: KubeObject) -> Snapshot:
    found = {identity(each["metadata"]["name"]): each for each in objects}
    return Snapshot(PLACE, Listing(objects=found), 0.0)


def test_what_was_deleted_while_nobody_watched_is_news_of_the_next_list() -> None:
    board = ObjectStore()
    one, two = service("one", "1"), service("two", "1")
    assert list(board.take(snapshot(one, two))) == [(identity("one"), one), (identity("two"), two)]
    assert list(board.take(WatchLost(PLACE, "silence"))) == []
    assert board.blind == {"Service": "silence"}
    assert list(board.take(snapshot(two))) == [(identity("one"), one), (identity("two"), two)]
    assert board.blind == {}
    assert board.of_agent(("cx", "one")) == {}
    assert list(board.objects) == [identity("two")]


def test_a_change_is_news_once() -> None:
    board = ObjectStore()
    newer = service("one", "2")
    change = Moved(PLACE, identity("one"), newer, "2", 0.0)
    assert list(board.take(change)) == [(identity("one"), newer)]
    assert list(board.take(change)) == []
    gone = Moved(PLACE, identity("one"), None, "3", 0.0)
    assert list(board.take(gone)) == [(identity("one"), newer)]
    assert list(board.take(gone)) == []
