"""A lease: taken when it is free or has expired, left to whoever renews it, given back."""

import json
from typing import Any

import pytest
from holdfast.adapters.cluster.lease import Lease
from holdfast.errors import ClusterError

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure

PATH = "/apis/coordination.k8s.io/v1/namespaces/hs/leases"
ONE = f"{PATH}/one"


def held_by(holder: str, version: str = "1") -> Answer:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 2}
    return Answer({"metadata": {"name": "one", "resourceVersion": version}, "spec": spec})


def written(api: FakeApi) -> dict[str, Any]:
    _, _, _, body = next(each for each in reversed(api.requests) if each[0] != "GET")
    document: dict[str, Any] = json.loads(body)
    return document


def lease(api: FakeApi) -> Lease:
    return Lease(api.client(), "hs", "one", "me")


def test_a_lease_that_is_not_there_is_made(api: FakeApi) -> None:
    api.on(ONE, failure(404))
    api.on(PATH, held_by("me"))
    assert lease(api).try_to_hold()
    assert written(api)["spec"]["holderIdentity"] == "me"


@pytest.mark.parametrize(
    ("holder", "is_taken"),
    [
        pytest.param("", True, id="given-back"),
        pytest.param("me", True, id="own"),
        pytest.param("another", False, id="another's"),
    ],
)
def test_who_may_have_it(api: FakeApi, holder: str, is_taken: bool) -> None:
    api.on(ONE, held_by(holder))
    assert lease(api).try_to_hold() is is_taken
    assert any(method == "PUT" for method, *_ in api.requests) is is_taken


def test_one_that_nobody_renews_expires_by_the_readers_own_clock(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("holdfast.adapters.cluster.lease.elapsed_seconds", lambda: now)
    mine = lease(api)
    api.on(ONE, held_by("another"))
    assert not mine.try_to_hold()
    now = 114.0
    assert not mine.try_to_hold()
    now = 116.0
    assert mine.try_to_hold()
    assert written(api)["spec"]["leaseTransitions"] == 3


def test_who_was_slower_does_not_hold_it(api: FakeApi) -> None:
    api.on(ONE, held_by(""), failure(409, "Conflict"), held_by("another", "2"))
    assert not lease(api).try_to_hold()


def test_a_conflict_alone_does_not_lose_it(api: FakeApi) -> None:
    api.on(ONE, held_by("me"), failure(409, "Conflict"), held_by("me", "2"))
    assert lease(api).try_to_hold()


def test_who_never_gets_to_write_does_not_know(api: FakeApi) -> None:
    api.on(ONE, *[held_by("me"), failure(409, "Conflict")] * 4)
    with pytest.raises(
        ClusterError, match="lease hs/one is written by another client all the time"
    ):
        lease(api).try_to_hold()


def test_it_is_given_back_by_its_holder_alone(api: FakeApi) -> None:
    api.on(ONE, held_by("another"))
    lease(api).release()
    assert [method for method, *_ in api.requests] == ["GET"]
    api.on(ONE, held_by("me"))
    lease(api).release()
    assert written(api)["spec"]["holderIdentity"] == ""
