from typing import Any

import msgspec
import pytest
from holdfast.adapters.cluster.api_error import UnreachableError
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.adapters.cluster.listing import read_listed
from holdfast.errors import LoginError
from holdfast.kube.objects import Identity, ObjectRef
from holdfast.kube.structure import KindEntry, builtin_kind

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, page

MAPS = "/api/v1/configmaps"


def config_map(name: str, namespace: str = "cx", **body: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, **body}


def refs(*names: str, namespace: str = "cx", kind: str = "ConfigMap") -> list[ObjectRef]:
    return [ObjectRef(namespace, kind, name, "v1") for name in names]


def read(api: FakeApi, wanted: list[ObjectRef], **connection: Any) -> Listing:
    kinds: dict[tuple[str, str], KindEntry] = {}
    for ref in wanted:
        entry = builtin_kind(ref.api_version, ref.kind)
        if entry is not None:
            kinds[ref.api_version, ref.kind] = entry
    return read_listed(api.client(**connection), wanted, kinds)


def names(listing: Listing) -> set[str]:
    return {name for _, _, _, name in listing.objects}


def test_one_namespace_is_one_request_however_many_objects(api: FakeApi) -> None:
    api.on("/api/v1/namespaces/cx/configmaps", page(*(config_map(f"m{n}") for n in range(40))))
    listing = read(api, refs(*(f"m{n}" for n in range(40))))
    assert len(listing.objects) == 40
    assert listing.requests == len(api.requests) == 1
    assert api.requests[0][2] == {"limit": "500"}


def test_several_namespaces_are_one_request_for_the_whole_cluster(api: FakeApi) -> None:
    api.on(MAPS, page(config_map("a"), config_map("b", "ops")))
    listing = read(api, [*refs("a"), *refs("b", namespace="ops")])
    assert names(listing) == {"a", "b"}
    assert api.paths() == [MAPS]


def test_a_crowded_cluster_is_asked_by_namespace(api: FakeApi) -> None:
    api.on(MAPS, page(config_map("x", "crowd"), more="next", remaining=5000))
    api.on("/api/v1/namespaces/cx/configmaps", page(config_map("a")))
    api.on("/api/v1/namespaces/ops/configmaps", page(config_map("b", "ops")))
    listing = read(api, [*refs("a"), *refs("b", namespace="ops")])
    assert {"a", "b"} <= names(listing)
    assert listing.requests == 3


def test_who_may_not_read_the_whole_cluster_reads_the_namespaces(api: FakeApi) -> None:
    api.on(MAPS, failure(403))
    api.on("/api/v1/namespaces/cx/configmaps", page(config_map("a")))
    api.on("/api/v1/namespaces/ops/configmaps", failure(403))
    listing = read(api, [*refs("a"), *refs("b", namespace="ops")])
    assert names(listing) == {"a"}
    (unread,) = listing.unread.values()
    assert unread.scope == "ConfigMap in ops"
    assert "grant get and list on configmaps in namespace ops" in unread.reason


def test_all_pages_are_read(api: FakeApi) -> None:
    path = "/api/v1/namespaces/cx/configmaps"
    api.on(path, page(config_map("a"), more="t1"), page(config_map("b"), config_map("a")))
    assert names(read(api, refs("a", "b"))) == {"a", "b"}
    assert api.requests[1][2]["continue"] == "t1"


def test_a_list_that_grew_too_old_is_begun_again(api: FakeApi) -> None:
    path = "/api/v1/namespaces/cx/configmaps"
    fresh = page(config_map("a"), config_map("b"))
    api.on(path, page(config_map("a"), more="old"), failure(410), fresh)
    listing = read(api, refs("a", "b"))
    assert names(listing) == {"a", "b"}
    assert listing.unread == {}


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([failure(410)], id="too old again and again"),
        pytest.param([failure(403)], id="forbidden"),
        pytest.param([failure(500)], id="server fault"),
        pytest.param([page(config_map("a"), more="next"), failure(403)], id="half a list"),
        pytest.param([Answer(b'{"metadata":{},"items":[{"metad')], id="cut off"),
        pytest.param([Answer(b"<html>")], id="no JSON"),
        pytest.param([Answer(hang_up=True)], id="connection closed"),
        pytest.param([Answer(b'{"metadata":{},"items":[{"a":' + b"[" * 50_000)], id="deep"),
    ],
)
def test_what_was_not_read_is_unread_and_never_missing(api: FakeApi, answers: list[Answer]) -> None:
    api.on("/api/v1/namespaces/cx/configmaps", *answers)
    api.on("/api/v1/namespaces/cx/services", page(config_map("s")))
    listing = read(api, [*refs("b"), *refs("s", kind="Service")])
    assert ("", "ConfigMap", "cx", "b") in listing.unread
    assert names(listing) <= {"a", "s"}


def test_a_kind_that_is_not_served_is_not_a_deleted_object(api: FakeApi) -> None:
    ref = ObjectRef("cx", "Agent", "a", "x.example/v1")
    listing = read(api, [ref])
    assert "does not serve" in listing.unread[ref.identity].reason
    api.on("/api/v1/namespaces/cx/configmaps", failure(404, "the server could not find it"))
    listing = read(api, refs("a"))
    unread = listing.unread[Identity("", "ConfigMap", "cx", "a")]
    assert "does not serve configmaps" in unread.reason


def test_an_object_made_between_two_pages_is_found_by_a_second_look(api: FakeApi) -> None:
    api.on("/api/v1/namespaces/cx/configmaps", page(config_map("a")))
    api.on("/api/v1/namespaces/cx/configmaps/late", Answer(config_map("late")))
    listing = read(api, refs("a", "late", "gone"))
    assert names(listing) == {"a", "late"}
    assert listing.unread == {}
    assert listing.requests == 3


def test_many_missing_objects_are_confirmed_by_one_more_list(api: FakeApi) -> None:
    api.on("/api/v1/namespaces/cx/configmaps", page())
    listing = read(api, refs(*(f"m{n}" for n in range(100))))
    assert listing.objects == {}
    assert listing.unread == {}
    assert len(api.requests) == 2


def test_one_cluster_scoped_object_is_asked_for_by_name(api: FakeApi) -> None:
    api.on("/api/v1/namespaces", page({"metadata": {"name": "cx"}}))
    listing = read(api, refs("cx", namespace="", kind="Namespace"))
    assert names(listing) == {"cx"}
    assert api.requests[0][2]["fieldSelector"] == "metadata.name=cx"


def test_managed_fields_stay_raw_and_status_is_not_decoded(api: FakeApi) -> None:
    one = config_map("a", data={"k": "v"}, status={"big": 1})
    one["metadata"]["managedFields"] = [{"manager": "x"}]
    api.on("/api/v1/namespaces/cx/configmaps", page(one))
    (found,) = read(api, refs("a")).objects.values()
    assert isinstance(found["metadata"]["managedFields"], msgspec.Raw)
    assert "status" not in found
    assert found["data"] == {"k": "v"}
    assert (found["apiVersion"], found["kind"]) == ("v1", "ConfigMap")


def test_an_object_read_in_two_versions_counts_as_declared(api: FakeApi) -> None:
    both = [
        ObjectRef("cx", "HorizontalPodAutoscaler", "old", "autoscaling/v1"),
        ObjectRef("cx", "HorizontalPodAutoscaler", "new", "autoscaling/v2"),
    ]
    for version in ("v1", "v2"):
        items = [config_map(name, spec={"read": version}) for name in ("old", "new")]
        api.on(f"/apis/autoscaling/{version}/namespaces/cx/horizontalpodautoscalers", page(*items))
    found = read(api, both).objects
    assert {key[3]: one["spec"]["read"] for key, one in found.items()} == {"old": "v1", "new": "v2"}


def test_credentials_that_are_not_accepted_end_the_scan(api: FakeApi) -> None:
    api.on("/api/v1/namespaces/cx/configmaps", failure(401))
    with pytest.raises(LoginError, match="does not accept the credentials"):
        read(api, refs("a"))


def test_nothing_at_all_to_be_had_is_an_error_and_not_a_report(api: FakeApi) -> None:
    api.on("/api/v1/namespaces/cx/configmaps", Answer(hang_up=True))
    with pytest.raises(UnreachableError, match="no answer from"):
        read(api, refs("a"))
