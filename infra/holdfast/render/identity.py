"""The identity of an agent's pods and its rights at the API server."""

from collections.abc import Sequence

from holdfast.kube.objects import KubeObject
from holdfast.manifest.exposure import PolicyRule, Security
from holdfast.render.marks import AgentMarks, RenderedObject

RBAC_GROUP = "rbac.authorization.k8s.io"


def render_identity(marks: AgentMarks, security: Security) -> list[RenderedObject]:
    """ServiceAccount, and Role with RoleBinding when rights are declared."""
    rendered = []
    if security.service_account.create:
        account: KubeObject = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": marks.metadata(annotations=security.service_account.annotations),
            "automountServiceAccountToken": security.automount_token,
        }
        rendered.append(RenderedObject(marks.name, "serviceaccount", account))
    if security.rbac_rules:
        rendered += _render_rights(marks, security)
    return rendered


def service_account_name(marks: AgentMarks, security: Security) -> str:
    """Name of the ServiceAccount that the pods run as."""
    return security.service_account.name or marks.name


def _render_rights(marks: AgentMarks, security: Security) -> list[RenderedObject]:
    role: KubeObject = {
        "apiVersion": f"{RBAC_GROUP}/v1",
        "kind": "Role",
        "metadata": marks.metadata(),
        "rules": _rules(security.rbac_rules),
    }
    binding: KubeObject = {
        "apiVersion": f"{RBAC_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": marks.metadata(),
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": "Role", "name": marks.name},
        "subjects": [
            {
                "kind": "ServiceAccount",
                "name": service_account_name(marks, security),
                "namespace": marks.namespace,
            }
        ],
    }
    return [
        RenderedObject(marks.name, "role", role),
        RenderedObject(marks.name, "rolebinding", binding),
    ]


def _rules(rules: Sequence[PolicyRule]) -> list[KubeObject]:
    rendered = []
    for rule in rules:
        entry: KubeObject = {
            "apiGroups": list(rule.api_groups),
            "resources": list(rule.resources),
            "verbs": list(rule.verbs),
        }
        if rule.resource_names:
            entry["resourceNames"] = list(rule.resource_names)
        rendered.append(entry)
    return rendered
