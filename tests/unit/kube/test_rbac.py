import pytest
from holdfast.kube.rbac import policy_rule, role_and_binding, service_account_subject, user_subject

READ = policy_rule("apps", ["deployments"], ["get"])


@pytest.mark.parametrize(
    ("namespace", "kinds"),
    [
        ("cx", ("Role", "RoleBinding")),
        ("", ("ClusterRole", "ClusterRoleBinding")),
    ],
)
def test_rights_hold_in_their_namespace_or_in_the_whole_cluster(
    namespace: str, kinds: tuple[str, str]
) -> None:
    metadata = {"name": "reader", **({"namespace": namespace} if namespace else {})}
    role, binding = role_and_binding(metadata, [READ], user_subject("ann@example.com"))
    assert (role["kind"], binding["kind"]) == kinds
    assert role["metadata"] == binding["metadata"] == metadata
    assert role["rules"] == [READ]
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": kinds[0],
        "name": "reader",
    }


def test_a_user_is_of_a_group_and_an_account_of_a_namespace() -> None:
    assert user_subject("ann")["apiGroup"] == "rbac.authorization.k8s.io"
    assert service_account_subject("ops", "reader") == {
        "kind": "ServiceAccount",
        "name": "reader",
        "namespace": "ops",
    }


def test_a_rule_without_names_is_not_limited_to_none() -> None:
    assert "resourceNames" not in READ
    named = policy_rule("", ["secrets"], ["get"], ["llm-key"])
    assert named["resourceNames"] == ["llm-key"]
