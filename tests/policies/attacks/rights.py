"""Attacks by rights, for every spelling of who holds them."""

from collections.abc import Iterable, Iterator

from tests.policies.attacks.objects import (
    Kube,
    kube,
)


def role(rule: Kube, kind: str = "Role") -> Kube:
    return kube("rbac.authorization.k8s.io/v1", kind, rules=[rule])


def binding(name: str, subject: Kube, kind: str = "ClusterRoleBinding") -> Kube:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    return kube("rbac.authorization.k8s.io/v1", kind, roleRef=reference, subjects=[subject])


def rights() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for group, resource, verb in (
        ("", "pods", "create"),
        ("apps", "deployments", "patch"),
        ("batch", "cronjobs", "update"),
        ("", "secrets", "create"),
        ("", "nodes", "patch"),
        ("", "pods/proxy", "get"),
        ("", "services/proxy", "create"),
        ("rbac.authorization.k8s.io", "rolebindings", "create"),
        ("rbac.authorization.k8s.io", "clusterroles", "patch"),
        ("holdfast.dev", "policyexceptions", "create"),
        ("apiextensions.k8s.io", "customresourcedefinitions", "create"),
        ("apiregistration.k8s.io", "apiservices", "create"),
        ("certificates.k8s.io", "certificatesigningrequests", "create"),
        ("helm.toolkit.fluxcd.io", "helmreleases", "create"),
        ("argoproj.io", "workflows", "create"),
        ("discovery.k8s.io", "endpointslices", "update"),
        ("external-secrets.io", "externalsecrets", "create"),
        ("crd.projectcalico.org", "globalnetworkpolicies", "delete"),
        ("", "persistentvolumes", "patch"),
    ):
        rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        yield (
            f"{verb} {resource}",
            [role(rule)],
            [role({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]})],
        )
    urls = {"nonResourceURLs": ["*"], "verbs": ["get"]}
    yield (
        "every address",
        [role(urls, "ClusterRole")],
        [role({"nonResourceURLs": ["/healthz"], "verbs": ["get"]}, "ClusterRole")],
    )
    alice = {"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}
    for name, subject in (
        ("admin to a user", alice),
        ("admin to an account as a user", alice | {"name": "system:serviceaccount:ops:a"}),
        ("admin to a group", alice | {"kind": "Group", "name": "devs"}),
    ):
        yield name, [binding("admin", subject)], [binding("view", subject)]
    for name, selector in (
        ("bootstrap roles", {"matchLabels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}),
        ("only negative", {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}),
        (
            "aggregate to admin",
            {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}},
        ),
    ):
        held = kube("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[])
        attack = held | {"aggregationRule": {"clusterRoleSelectors": [selector]}}
        clean = held | {
            "aggregationRule": {
                "clusterRoleSelectors": [{"matchLabels": {"acme.example/sum": "true"}}]
            }
        }
        yield f"aggregation: {name}", [attack], [clean]
