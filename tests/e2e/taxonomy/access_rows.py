"""Rows 64 to 73: accounts, roles, bindings, namespaces and webhooks."""

from tests.e2e.taxonomy.case import Case, Expected, Write, added, changed, patched, put
from tests.e2e.taxonomy.objects import role, role_binding, thing

_A = "ServiceAccount"
_ENFORCE = "pod-security.kubernetes.io/enforce"
_CLUSTER = {"name": "$namespace-$name", "namespace": None}
_GROUP = "rbac.authorization.k8s.io"
_READ_ALL = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}


def _as_admin(kind: str, *operations: dict[str, object]) -> Write:
    return patched(kind, *operations, user="admin")


RIGHTS = (
    Case(
        64,
        "token mounted",
        (thing("v1", _A, automountServiceAccountToken=False),),
        (Write("merge", _A, {"automountServiceAccountToken": True}),),
        (changed(_A, "automountServiceAccountToken", "high"),),
    ),
    Case(
        64,
        "pull secret added",
        (thing("v1", _A),),
        (Write("merge", _A, {"imagePullSecrets": [{"name": "mine"}]}),),
        (added(_A, "imagePullSecrets", "high"),),
    ),
    Case(
        64,
        "cloud role changed",
        (thing("v1", _A, metadata={"annotations": {"iam.example/role": "reader"}}),),
        (Write("merge", _A, {"metadata": {"annotations": {"iam.example/role": "owner"}}}),),
        (changed(_A, 'metadata.annotations["iam.example/role"]', "high"),),
    ),
    Case(
        65,
        "token reference",
        (thing("v1", _A),),
        (
            Write(
                "merge",
                _A,
                {"secrets": [{"name": "$name-token-ab1cd"}]},
                manager="kube-controller-manager",
                user="system:serviceaccount:kube-system:tokens-controller",
            ),
        ),
        proof=(_A, ("secrets", 0, "name"), None),
    ),
    Case(
        66,
        "all verbs",
        (role(),),
        (_as_admin("Role", put("/rules/0/verbs", ["*"])),),
        (changed("Role", "rules[0].verbs", "critical"),),
    ),
    Case(
        66,
        "rule appended",
        (role(),),
        (_as_admin("Role", put("/rules/-", _READ_ALL)),),
        (added("Role", "rules[2]", "critical"),),
    ),
    Case(
        66,
        "cluster rule appended",
        (role("ClusterRole", metadata=_CLUSTER),),
        (
            Write(
                "json",
                "ClusterRole",
                [put("/rules/-", _READ_ALL)],
                user="admin",
                name="$namespace-$name",
            ),
        ),
        (added("ClusterRole", "rules[2]", "critical"),),
    ),
    Case(
        67,
        "reordered",
        (role(),),
        (
            _as_admin(
                "Role",
                put("/rules", [*reversed(role()["rules"])]),
                put("/rules/1/verbs", ["list", "get"]),
            ),
        ),
        proof=("Role", ("rules", 1, "verbs", 0), "list"),
    ),
    Case(
        68,
        "aggregated",
        (
            role(
                "ClusterRole",
                metadata=_CLUSTER,
                rules=None,
                aggregationRule={
                    "clusterRoleSelectors": [
                        {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}
                    ]
                },
            ),
        ),
        proof=("ClusterRole", ("rules", 0), None),
    ),
    Case(
        69,
        "subject added",
        (role(), role_binding()),
        (
            _as_admin(
                "RoleBinding",
                put("/subjects/-", {"apiGroup": _GROUP, "kind": "User", "name": "mallory"}),
            ),
        ),
        (added("RoleBinding", "subjects", "high"),),
    ),
    Case(
        69,
        "role swapped",
        (role(), role_binding()),
        (
            Write("delete", "RoleBinding", user="admin"),
            Write(
                "create",
                "RoleBinding",
                role_binding() | {"roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": "admin"}},
                manager="kubectl-create",
                user="admin",
            ),
        ),
        (changed("RoleBinding", "roleRef.name", "high"), Expected("recreated", "RoleBinding")),
    ),
    Case(
        70,
        "group defaulted",
        (role(), role_binding()),
        proof=("RoleBinding", ("subjects", 1, "apiGroup"), _GROUP),
    ),
)

CLUSTER = (
    Case(
        71,
        "lowered",
        (thing("v1", "Namespace", metadata=_CLUSTER | {"labels": {_ENFORCE: "restricted"}}),),
        (
            Write(
                "merge",
                "Namespace",
                {"metadata": {"labels": {_ENFORCE: "privileged"}}},
                user="admin",
                name="$namespace-$name",
            ),
        ),
        (changed("Namespace", f'metadata.labels["{_ENFORCE}"]', "critical"),),
    ),
    Case(
        72,
        "namespace",
        (thing("v1", "Namespace", metadata=_CLUSTER),),
        proof=("Namespace", ("metadata", "labels", "kubernetes.io/metadata.name"), None),
    ),
    Case(
        73,
        "bundle injected",
        (
            thing(
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                metadata=_CLUSTER | {"annotations": {"cert-manager.io/inject-ca-from": "a/b"}},
                webhooks=[
                    {
                        "name": "nothing.taxonomy.example",
                        "clientConfig": {"url": "https://nothing.example/"},
                        "admissionReviewVersions": ["v1"],
                        "sideEffects": "None",
                        "failurePolicy": "Ignore",
                    }
                ],
            ),
        ),
        (
            Write(
                "json",
                "ValidatingWebhookConfiguration",
                [put("/webhooks/0/clientConfig/caBundle", "$bundle")],
                manager="cert-manager-cainjector",
                user="system:serviceaccount:cert-manager:cert-manager-cainjector",
                name="$namespace-$name",
            ),
        ),
        proof=(
            "ValidatingWebhookConfiguration",
            ("webhooks", 0, "clientConfig", "caBundle"),
            None,
        ),
    ),
)

ACCESS = (*RIGHTS, *CLUSTER)
