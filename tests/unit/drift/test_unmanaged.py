"""Undeclared objects: what a declaration refers to, rights that reach its accounts, its readers."""

from typing import Any

import pytest
from holdfast.drift.reader_role import Reader, ReadKind, reader_objects
from holdfast.drift.unmanaged import referenced
from holdfast.kube.objects import KubeObject

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, live_of
from tests.unit.drift.test_scan import NAMESPACE, found, scan

POD = "spec.template.spec"


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        pytest.param(f"{CONTAINER}.env[name=A]",
                     {"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}},
                     ("Secret", "cx", "x"), id="key of a secret"),
        pytest.param(f"{CONTAINER}.envFrom", [{"configMapRef": {"name": "x"}}],
                     ("ConfigMap", "cx", "x"), id="all keys of a map"),
        pytest.param(f"{POD}.volumes", [{"name": "v", "secret": {"secretName": "x"}}],
                     ("Secret", "cx", "x"), id="volume of a secret"),
        pytest.param(f"{POD}.volumes", [{"name": "v", "configMap": {"name": "x"}}],
                     ("ConfigMap", "cx", "x"), id="volume of a map"),
        pytest.param(f"{POD}.volumes", [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}],
                     ("PersistentVolumeClaim", "cx", "x"), id="claim"),
        pytest.param(f"{POD}.imagePullSecrets", [{"name": "x"}],
                     ("Secret", "cx", "x"), id="pull secret"),
    ],
)  # fmt: skip
def test_a_pod_names_what_it_uses(path: str, value: Any, named: tuple[str, str, str]) -> None:
    found = referenced([edit(DEPLOYMENT, {path: value})])
    assert found == {named, ("ServiceAccount", "cx", "support")}


@pytest.mark.parametrize("odd", [None, "text", 5, [None], {"name": 5}, {"secretKeyRef": []}])
def test_odd_values_name_nothing(odd: Any) -> None:
    assert len(referenced([edit(DEPLOYMENT, {f"{POD}.volumes": odd})])) == 1


RBAC = "rbac.authorization.k8s.io/v1"


def binding(*subjects: dict[str, str], name: str = "extra", role: str = "cluster-admin") -> Any:
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"kind": "ClusterRole", "name": role},
        "subjects": list(subjects),
    }


ACCOUNTS = {"kind": "Group", "name": "system:serviceaccounts"}
EVERYBODY = {"kind": "Group", "name": "system:authenticated"}


@pytest.mark.parametrize(
    ("found_binding", "is_found"),
    [
        pytest.param(binding({"kind": "ServiceAccount", "name": "a", "namespace": "cx"}), True,
                     id="an account of the namespace"),
        pytest.param(binding({"kind": "ServiceAccount", "name": "a", "namespace": "ops"}), False,
                     id="an account of another namespace"),
        pytest.param(binding({"kind": "User", "name": "system:serviceaccount:cx:a"}), True,
                     id="an account by its user name"),
        pytest.param(binding({"kind": "User", "name": "system:serviceaccount:cxx:a"}), False,
                     id="a namespace that begins alike"),
        pytest.param(binding({"kind": "Group", "name": "system:serviceaccounts:cx"}), True,
                     id="all accounts of the namespace"),
        pytest.param(binding(ACCOUNTS), True, id="all accounts"),
        pytest.param(binding(EVERYBODY), True, id="everybody"),
        pytest.param(binding({"kind": "User", "name": "alice"}), False, id="a person"),
        pytest.param(binding({"kind": "Group", "name": "system:masters"}), False, id="a group"),
        pytest.param(binding(EVERYBODY, name="system:discovery", role="system:discovery"), False,
                     id="the server's own"),
        pytest.param(binding(EVERYBODY, name="system:discovery"), True,
                     id="the server's own name with another role"),
        pytest.param(
            binding({"kind": "ServiceAccount", "name": "a", "namespace": "cx"},
                    name="system:discovery", role="system:discovery"),
            True, id="the server's own, and an account more"),
        pytest.param(binding(), False, id="nobody"),
    ],
)  # fmt: skip
def test_rights_of_the_whole_cluster_count_where_they_reach_its_accounts(
    found_binding: Any, is_found: bool
) -> None:
    report = scan([NAMESPACE], [live_of(NAMESPACE), found_binding], is_whole=True)
    expected = [("unmanaged", f"ClusterRoleBinding {found_binding['metadata']['name']}")]
    assert found(report) == (expected if is_found else [])


def account(annotations: dict[str, str]) -> Any:
    metadata = {"name": "default", "namespace": "cx", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


@pytest.mark.parametrize(
    ("annotations", "is_found"),
    [
        ({}, False),
        ({"openshift.io/internal-registry-pull-secret-ref": "x"}, False),
        ({"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/admin"}, True),
        ({"iam.gke.io/gcp-service-account": "a@b.iam.example.test"}, True),
        ({"new.cloud.example.test/role": "admin"}, True),
    ],
)
def test_the_default_account_carries_no_role_of_a_cloud(
    annotations: dict[str, str], is_found: bool
) -> None:
    report = scan([NAMESPACE], [live_of(NAMESPACE), account(annotations)], is_whole=True)
    assert found(report) == ([("unmanaged", "ServiceAccount cx/default")] if is_found else [])


def rights(**rule: list[str]) -> list[KubeObject]:
    """A role and its binding as `reader_objects` makes them, with another rule."""
    kinds = [ReadKind("v1", "pods", "cx")]
    role, bound = reader_objects(kinds, Reader("scan", user="ci"))
    if rule:
        role["rules"] = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], **rule}]
    return [role, bound]


@pytest.mark.parametrize(
    ("objects", "count"),
    [
        pytest.param(rights(), 0, id="as printed"),
        pytest.param(rights(verbs=["get", "create"]), 2, id="writes, too"),
        pytest.param(rights(verbs=["*"]), 2, id="every verb"),
        pytest.param(rights(resources=["secrets"]), 2, id="all Secrets"),
        pytest.param(rights(resources=["*"]), 2, id="all kinds"),
        pytest.param(rights(resources=["pods/exec"]), 2, id="a shell, which is got"),
        pytest.param(rights()[1:], 1, id="a binding without its role"),
        pytest.param(
            [rights()[0], edit(rights()[1], {"roleRef.kind": "ClusterRole"})], 1,
            id="bound to another role",
        ),
    ],
)  # fmt: skip
def test_the_readers_own_rights_are_known_by_what_they_grant(
    objects: list[KubeObject], count: int
) -> None:
    report = scan([NAMESPACE], [live_of(NAMESPACE), *objects], is_whole=True, stack="dev")
    assert len(report.findings) == count
