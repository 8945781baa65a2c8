"""The store: the newest version of an object stays, whoever tells of it, and agents keep theirs."""

from typing import Any

import msgspec
import pytest
from holdfast.adapters.cluster.changes import Moved, Snapshot, WatchedKind, WatchScope
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.controllers.operator.agent_store import AgentStore
from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.manifest.types.manifest import API_VERSION

REF = ObjectRef("cx", "ConfigMap", "settings", "v1")
PLACE = WatchScope(WatchedKind(None, (REF,)), "ConfigMap")


def config_map(version: str, agent: str = "support", **data: str) -> KubeObject:
    metadata: dict[str, Any] = {"name": REF.name, "namespace": "cx", "resourceVersion": version}
    metadata["labels"] = {"holdfast.dev/agent": agent}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def moved(live: KubeObject | None, version: str) -> Moved:
    return Moved(PLACE, REF.identity, live, version, 0.0)


def test_the_answer_to_a_write_that_comes_late_takes_nothing_back() -> None:
    store = AgentStore()
    store.take(moved(config_map("12", it="newer"), "12"))
    store.put(REF.identity, config_map("9", it="older"))
    assert store.objects[REF.identity]["data"] == {"it": "newer"}


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(moved(config_map("9", it="older"), "9"), id="an older version"),
        pytest.param(moved(None, "10"), id="the end of the one before it"),
    ],
)
def test_what_our_own_write_has_overtaken_is_news_of_the_newest_version(late: Moved) -> None:
    """The answer to the write held what another wrote before it, and nobody has looked at that."""
    store = AgentStore()
    store.put(REF.identity, config_map("12", it="newer"))
    [(identity, live)] = store.take(late)
    assert live is store.objects[identity]
    assert live["data"] == {"it": "newer"}


def test_our_own_write_is_no_news() -> None:
    store = AgentStore()
    store.put(REF.identity, config_map("12", it="newer"))
    assert store.take(moved(config_map("12"), "12")) == []
    assert store.objects[REF.identity]["data"] == {"it": "newer"}


def test_a_resource_that_a_list_leaves_out_as_known_is_news() -> None:
    """It is known from the answer to a status, which held what another had declared meanwhile."""
    agent = ObjectRef("cx", "Agent", "support", API_VERSION)
    place = WatchScope(WatchedKind(None, (agent,)), "Agent")
    store = AgentStore()
    store.put(agent.identity, config_map("12"))
    listed = Snapshot(place, Listing(unchanged={agent.identity}), 0.0)
    assert [identity for identity, _ in store.take(listed)] == [agent.identity]
    assert store.take(listed) == [], "it is news once"


def test_a_list_counts_whatever_its_versions_are() -> None:
    """A control plane that was restored from a backup begins with older ones."""
    store = AgentStore()
    store.put(REF.identity, config_map("1200"))
    listing = Listing(objects={REF.identity: config_map("7", it="restored")})
    store.take(Snapshot(PLACE, listing, 0.0))
    assert store.objects[REF.identity]["data"] == {"it": "restored"}
    store.take(Snapshot(PLACE, Listing(), 0.0))
    assert store.of_kind("", "ConfigMap") == []


def test_the_answer_to_a_write_is_kept_as_the_watch_would_tell_it() -> None:
    store = AgentStore()
    answer = config_map("1")
    answer["metadata"]["managedFields"] = [{"manager": "holdfast", "operation": "Apply"}]
    store.put(REF.identity, answer)
    kept = store.objects[REF.identity]["metadata"]["managedFields"]
    assert isinstance(kept, msgspec.Raw)
    entries = read_managed_fields(store.objects[REF.identity]).entries
    assert [each.manager for each in entries] == ["holdfast"]


def test_an_object_belongs_to_the_agent_that_its_label_names_now() -> None:
    store = AgentStore()
    store.put(REF.identity, config_map("1", "support"))
    store.put(REF.identity, config_map("2", "billing"))
    assert store.of_agent(("cx", "support")) == {}
    assert list(store.of_agent(("cx", "billing"))) == [REF.identity]


def with_uid(version: str, uid: str) -> KubeObject:
    one = config_map(version)
    one["metadata"]["uid"] = uid
    return one


@pytest.mark.parametrize("is_listed", [False, True], ids=["deleted", "absent from a list"])
def test_the_late_answer_to_a_write_brings_no_object_back(is_listed: bool) -> None:
    store = AgentStore()
    store.take(moved(with_uid("12", "u1"), "12"))
    store.take(Snapshot(PLACE, Listing(), 0.0) if is_listed else moved(None, "14"))
    store.put(REF.identity, with_uid("13", "u1"))
    assert store.objects == {}
    assert store.of_agent(("cx", "support")) == {}


def test_without_a_uid_the_version_of_the_end_decides() -> None:
    store = AgentStore()
    store.take(moved(config_map("12"), "12"))
    store.take(moved(None, "14"))
    store.put(REF.identity, config_map("13"))
    assert store.objects == {}
    store.put(REF.identity, config_map("15"))
    assert REF.identity in store.objects


def test_another_object_of_the_same_name_is_there() -> None:
    store = AgentStore()
    store.take(moved(with_uid("12", "u1"), "12"))
    store.take(moved(None, "14"))
    store.put(REF.identity, with_uid("15", "u2"))
    assert store.objects[REF.identity]["metadata"]["uid"] == "u2"


def test_a_list_brings_back_what_a_restored_control_plane_holds() -> None:
    store = AgentStore()
    store.take(moved(with_uid("12", "u1"), "12"))
    store.take(moved(None, "14"))
    store.take(Snapshot(PLACE, Listing(objects={REF.identity: with_uid("12", "u1")}), 0.0))
    assert REF.identity in store.objects
