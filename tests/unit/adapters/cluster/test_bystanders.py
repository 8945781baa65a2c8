import pytest
from holdfast.adapters.cluster.listing import WATCHED_KINDS, read_bystanders
from holdfast.errors import LoginError

from tests.unit.adapters.cluster.fake_api import FakeApi, failure, page

PODS = "/api/v1/namespaces/cx/pods"
OTHERS = [key for key in WATCHED_KINDS if key != ("v1", "Pod")]


def item(name: str) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "cx", "managedFields": [{"manager": "x"}]}}


def test_only_metadata_is_asked_for_and_kept(api: FakeApi) -> None:
    api.on(PODS, page(item("a"), more="next"), page(item("b")))
    beside = read_bystanders(api.client(), OTHERS, ["cx"])
    assert [one["metadata"]["name"] for one in beside.objects] == ["a", "b"]
    assert {(one["apiVersion"], one["kind"]) for one in beside.objects} == {("v1", "Pod")}
    assert beside.kinds == {("", "Pod")}
    assert "PartialObjectMetadataList" in api.accepted[0]


def test_kinds_that_are_declared_are_not_read_twice(api: FakeApi) -> None:
    read_bystanders(api.client(), WATCHED_KINDS, ["cx"])
    assert api.requests == []


def test_what_may_not_be_listed_is_a_note_and_no_failure(api: FakeApi) -> None:
    api.on(PODS, failure(403))
    beside = read_bystanders(api.client(), OTHERS, ["cx"])
    assert beside.objects == ()
    assert beside.kinds == frozenset()
    assert "Pod" in beside.unread


def test_a_label_narrows_the_question(api: FakeApi) -> None:
    api.on(PODS, page())
    read_bystanders(api.client(), OTHERS, ["cx"], "holdfast.dev/stack=dev")
    assert api.requests[0][2]["labelSelector"] == "holdfast.dev/stack=dev"


def test_credentials_that_are_not_accepted_end_the_scan(api: FakeApi) -> None:
    api.on(PODS, failure(401))
    with pytest.raises(LoginError):
        read_bystanders(api.client(), OTHERS, ["cx"])
