import pytest
from holdfast.adapters.cluster.listing import read_bystanders
from holdfast.adapters.cluster.sought_kinds import ServedKind, kinds_beside
from holdfast.drift.looked_for import LOOKED_FOR, TOKEN_TYPE
from holdfast.errors import LoginError

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, page

PODS = "/api/v1/namespaces/cx/pods"
POD = ServedKind(LOOKED_FOR["", "Pod"], "v1")


def item(name: str) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "cx", "managedFields": [{"manager": "x"}]}}


SERVICE = ServedKind(LOOKED_FOR["", "Service"], "v1")


@pytest.mark.parametrize(
    ("sought", "is_metadata_enough"),
    [
        pytest.param(SERVICE, True, id="a Service"),
        pytest.param(POD, False, id="a pod, which is compared with its template"),
    ],
)
def test_only_metadata_is_asked_for_where_it_is_enough(
    sought: ServedKind, is_metadata_enough: bool, api: FakeApi
) -> None:
    kind = sought.sought.kind
    path = f"/api/v1/namespaces/cx/{sought.sought.plural}"
    api.on(path, page(item("a"), more="next"), page(item("b")))
    beside = read_bystanders(api.client(), [sought], ["cx"])
    assert [one["metadata"]["name"] for one in beside.objects] == ["a", "b"]
    assert {(one["apiVersion"], one["kind"]) for one in beside.objects} == {("v1", kind)}
    assert beside.kinds == {("", kind)}
    assert ("PartialObjectMetadataList" in api.accepted[0]) is is_metadata_enough


def test_what_may_not_be_listed_is_a_note_and_no_failure(api: FakeApi) -> None:
    api.on(PODS, failure(403))
    beside = read_bystanders(api.client(), [POD], ["cx"])
    assert beside.objects == ()
    assert beside.kinds == frozenset()
    assert "Pod" in beside.unread


def test_a_label_narrows_the_question(api: FakeApi) -> None:
    api.on(PODS, page())
    read_bystanders(api.client(), [POD], ["cx"], "holdfast.dev/stack=dev")
    assert api.requests[0][2]["labelSelector"] == "holdfast.dev/stack=dev"


def test_credentials_that_are_not_accepted_end_the_scan(api: FakeApi) -> None:
    api.on(PODS, failure(401))
    with pytest.raises(LoginError):
        read_bystanders(api.client(), [POD], ["cx"])


GROUP = {
    "metadata": {"name": "keda.sh"},
    "versions": [
        {"version": "v1beta1", "resources": [{"resource": "scaledjobs"}, {"resource": "others"}]},
        {"version": "v1alpha1", "resources": [{"resource": "scaledjobs"}]},
    ],
}


def test_kinds_of_others_are_looked_for_where_they_are_served(api: FakeApi) -> None:
    api.on("/apis", Answer({"kind": "APIGroupDiscoveryList", "items": [GROUP]}))
    found = {each.key for each in kinds_beside(api.client(), [])}
    assert ("keda.sh/v1beta1", "ScaledJob") in found
    assert not [key for key in found if key[1] in {"ScaledObject", "Rollout"}]
    assert {("v1", "Pod"), ("apps/v1", "ReplicaSet"), ("v1", "ResourceQuota")} <= found


def test_a_server_that_does_not_say_what_it_serves_has_the_built_in_kinds(api: FakeApi) -> None:
    api.on("/apis", failure(403))
    found = {each.key for each in kinds_beside(api.client(), [])}
    assert found == {row_key for row_key in found if row_key[1] != "ScaledJob"}
    assert ("v1", "Pod") in found


def test_declared_kinds_are_not_read_twice_whatever_their_version(api: FakeApi) -> None:
    api.on("/apis", Answer({"items": []}))
    beside = kinds_beside(api.client(), [("autoscaling/v1", "HorizontalPodAutoscaler")])
    assert "HorizontalPodAutoscaler" not in {each.sought.kind for each in beside}


def test_of_secrets_only_credentials_of_accounts_are_listed_without_their_data(
    api: FakeApi,
) -> None:
    secrets = ServedKind(LOOKED_FOR["", "Secret"], "v1")
    api.on("/api/v1/namespaces/cx/secrets", page(item("token")))
    beside = read_bystanders(api.client(), [secrets], ["cx"])
    assert [one["metadata"]["name"] for one in beside.objects] == ["token"]
    assert api.requests[0][2]["fieldSelector"] == f"type={TOKEN_TYPE}"
    assert "PartialObjectMetadataList" in api.accepted[0]


def test_bindings_of_the_whole_cluster_are_read_with_their_subjects(api: FakeApi) -> None:
    bindings = ServedKind(
        LOOKED_FOR["rbac.authorization.k8s.io", "ClusterRoleBinding"],
        "rbac.authorization.k8s.io/v1",
    )
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    api.on(path, page({"metadata": {"name": "all"}, "subjects": [{"kind": "Group"}]}))
    (found,) = read_bystanders(api.client(), [bindings], ["cx"]).objects
    assert found["subjects"] == [{"kind": "Group"}]
    assert "PartialObjectMetadataList" not in api.accepted[0]
