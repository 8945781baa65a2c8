"""Rights as objects: a role and the binding that grants it. Pure.

Source: Kubernetes documentation, "Using RBAC Authorization".
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from holdfast.kube.objects import KubeObject

RBAC_GROUP: Final = "rbac.authorization.k8s.io"
RBAC_VERSION: Final = f"{RBAC_GROUP}/v1"


def policy_rule(
    group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()
) -> KubeObject:
    """One rule of a role.

    Args:
        group: API group; empty for the core group.
        resources: Plurals, such as `deployments`, or with a subresource, `services/proxy`.
        verbs: Such as `get`.
        names: Objects that the rule is limited to; all of them without.
    """
    limits = {"resourceNames": list(names)}
    rule: KubeObject = {"apiGroups": [group], "resources": list(resources)}
    return rule | (limits if limits["resourceNames"] else {}) | {"verbs": list(verbs)}


def service_account_subject(namespace: str, name: str) -> KubeObject:
    """A service account as a binding names it."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def user_subject(name: str) -> KubeObject:
    """A user as a binding names it."""
    return {"apiGroup": RBAC_GROUP, "kind": "User", "name": name}


def role_and_binding(
    metadata: Mapping[str, Any], rules: Iterable[KubeObject], subject: KubeObject
) -> tuple[KubeObject, KubeObject]:
    """A role and its binding, both of one name.

    Args:
        metadata: Of both; without a namespace they hold in the whole cluster.
        rules: What the role allows.
        subject: Who gets it.
    """
    scope = "" if metadata.get("namespace") else "Cluster"
    role: KubeObject = {
        "apiVersion": RBAC_VERSION,
        "kind": f"{scope}Role",
        "metadata": dict(metadata),
        "rules": list(rules),
    }
    binding: KubeObject = {
        "apiVersion": RBAC_VERSION,
        "kind": f"{scope}RoleBinding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": role["kind"], "name": metadata["name"]},
        "subjects": [subject],
    }
    return role, binding
