"""The store: what a LIST does not show any more is gone, however the stream ended."""

from holdfast.adapters.cluster.changes import (
    Moved,
    Planned,
    Snapshot,
    WatchedKind,
    WatchLost,
    WatchRecovered,
    WatchScope,
)
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.controllers.operator.agent_store import AgentStore
from holdfast.controllers.runtime.object_store import NOT_READ, InformerStore
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
    store = AgentStore()
    one, two = service("one", "1"), service("two", "1")
    assert list(store.take(snapshot(one, two))) == [(identity("one"), one), (identity("two"), two)]
    assert list(store.take(WatchLost(PLACE, "silence"))) == []
    assert store.blind == {"Service": "silence"}
    assert list(store.take(snapshot(two))) == [(identity("one"), one), (identity("two"), two)]
    assert store.blind == {}
    assert store.of_agent(("cx", "one")) == {}
    assert list(store.objects) == [identity("two")]


def test_a_change_is_news_once() -> None:
    store = AgentStore()
    newer = service("one", "2")
    change = Moved(PLACE, identity("one"), newer, "2", 0.0)
    assert list(store.take(change)) == [(identity("one"), newer)]
    assert list(store.take(change)) == []
    gone = Moved(PLACE, identity("one"), None, "3", 0.0)
    assert list(store.take(gone)) == [(identity("one"), newer)]
    assert list(store.take(gone)) == []


def test_without_objects_only_versions_are_kept_and_a_list_still_tells_what_is_gone() -> None:
    store = InformerStore(keeps_objects=False)
    one = service("one", "1")
    assert store.take(snapshot(one)) == [(identity("one"), one)]
    assert (store.objects, store.versions) == ({}, {identity("one"): "1"})
    assert store.take(snapshot()) == [(identity("one"), None)]


def test_the_end_of_an_object_that_was_never_read_is_news_once() -> None:
    store = InformerStore(keeps_objects=False)
    gone = Moved(PLACE, identity("one"), None, "3", 0.0)
    assert store.take(gone) == [(identity("one"), None)]
    assert store.take(gone) == []


def test_a_list_of_one_namespace_says_nothing_of_another() -> None:
    store = InformerStore()
    other = Identity("", "Service", "other", "one")
    store.put(other, service("one", "1"))
    narrow = WatchScope(KIND, "Service", "cx")
    assert store.take(Snapshot(narrow, Listing(), 0.0)) == []
    assert store.take(snapshot()) == [(other, service("one", "1"))]


def test_a_declared_scope_is_seen_from_its_first_list_until_it_is_lost() -> None:
    store = InformerStore((KIND,))
    assert list(store.not_checked) == [NOT_READ]
    store.take(Planned(KIND, (PLACE,)))
    assert not store.is_ready("Service")
    store.take(WatchRecovered(PLACE))
    assert list(store.not_checked) == [NOT_READ], "a stream alone shows nothing"
    store.take(snapshot())
    assert (list(store.not_checked), store.is_ready("Service")) == ([], True)
    store.take(WatchLost(PLACE, "silence"))
    assert [each.reason for each in store.not_checked] == ["silence"]
    store.take(WatchRecovered(PLACE))
    assert list(store.not_checked) == []


def test_scopes_of_an_earlier_plan_are_waited_for_no_longer() -> None:
    store = InformerStore((KIND,))
    store.take(Planned(KIND, (PLACE,)))
    store.take(WatchLost(PLACE, "not served"))
    narrow = WatchScope(KIND, "Service", "cx")
    store.take(Planned(KIND, (narrow,)))
    store.take(Snapshot(narrow, Listing(), 0.0))
    assert (list(store.not_checked), store.listed) == ([], {"Service"})


class CountedRefs(tuple[ObjectRef, ...]):
    """References that count how often all of them are hashed."""

    hashed = 0

    def __hash__(self) -> int:
        CountedRefs.hashed += 1
        return super().__hash__()


def test_what_is_not_checked_is_said_without_going_through_every_declared_object() -> None:
    kind = WatchedKind(None, CountedRefs(ObjectRef("", "Service", str(n), "v1") for n in range(9)))
    scope = WatchScope(kind, "Service")
    store = InformerStore((kind,))
    assert list(store.not_checked) == [NOT_READ]
    store.take(Planned(kind, (scope,)))
    store.take(Snapshot(scope, Listing(), 1.0))
    before = CountedRefs.hashed
    assert list(store.not_checked) == []
    assert store.is_ready("Service")
    assert CountedRefs.hashed == before


def test_an_object_whose_labels_have_left_the_selection_and_are_back_is_seen_again() -> None:
    store = InformerStore()
    before = service("one", "5")
    before["metadata"]["uid"] = "a"
    store.take(snapshot(before))
    store.take(Moved(PLACE, identity("one"), None, "6", 0.0))
    late = {**before, "metadata": {**before["metadata"], "resourceVersion": "5"}}
    assert store.take(Moved(PLACE, identity("one"), late, "5", 0.0)) == []
    back = {**before, "metadata": {**before["metadata"], "resourceVersion": "7"}}
    assert store.take(Moved(PLACE, identity("one"), back, "7", 0.0)) == [(identity("one"), back)]
