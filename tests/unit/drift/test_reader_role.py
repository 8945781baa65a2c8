"""The rights of a scan: what it reads, nothing else, and never Secrets."""

from holdfast.drift.reader_role import Reader, ReadKind, reader_objects
from hypothesis import given
from hypothesis import strategies as st

ACCOUNT = Reader("holdfast-drift-dev", service_account=("ops", "reader"))
KINDS = [
    ReadKind("apps/v1", "deployments", "cx"),
    ReadKind("v1", "services", "cx"),
    ReadKind("v1", "namespaces"),
    ReadKind("v1", "secrets", "cx"),
]


def test_each_namespace_has_its_role_and_the_cluster_one() -> None:
    objects = reader_objects(KINDS, ACCOUNT)
    assert [(each["kind"], each["metadata"].get("namespace", "")) for each in objects] == [
        ("ServiceAccount", "ops"),
        ("ClusterRole", ""),
        ("ClusterRoleBinding", ""),
        ("Role", "cx"),
        ("RoleBinding", "cx"),
    ]
    role = objects[3]
    verbs = ["get", "list", "watch"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["services"], "verbs": verbs},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": verbs},
    ]
    assert objects[4]["subjects"] == [
        {"kind": "ServiceAccount", "name": "reader", "namespace": "ops"}
    ]


def test_what_lies_below_an_object_is_got_and_never_listed() -> None:
    kinds = [ReadKind("v1", "services"), ReadKind("v1", "services/proxy")]
    role = reader_objects(kinds, ACCOUNT)[1]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["services"], "verbs": ["get", "list", "watch"]},
    ]


def test_a_secret_is_got_by_its_name_alone() -> None:
    named = ReadKind("v1", "secrets", "cx", ("llm-key", "ca"))
    role = reader_objects([*KINDS, named], ACCOUNT)[3]
    (rule,) = (each for each in role["rules"] if "secrets" in each["resources"])
    assert rule == {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["ca", "llm-key"],
        "verbs": ["get"],
    }


def test_a_user_needs_no_account() -> None:
    objects = reader_objects(KINDS, Reader("x", user="drift@example.com"))
    assert {each["kind"] for each in objects} == {
        "Role",
        "RoleBinding",
        "ClusterRole",
        "ClusterRoleBinding",
    }
    assert objects[1]["subjects"][0]["name"] == "drift@example.com"


KIND = st.builds(
    ReadKind,
    st.sampled_from(["v1", "apps/v1", "example.test/v1"]),
    st.sampled_from(["secrets", "pods", "things"]),
    st.sampled_from(["", "cx", "dev"]),
)


@given(st.lists(KIND))
def test_no_right_but_to_read_what_was_named_and_no_secret(kinds: list[ReadKind]) -> None:
    rules = [rule for each in reader_objects(kinds, ACCOUNT) for rule in each.get("rules", ())]
    for rule in rules:
        assert set(rule["verbs"]) <= {"get", "list", "watch"}
        assert "*" not in rule["resources"]
        assert not (rule["apiGroups"] == [""] and "secrets" in rule["resources"])
        named = {kind.plural for kind in kinds}
        assert set(rule["resources"]) <= named
