"""The identity of an agent's pods and its rights at the API server."""

from collections.abc import Sequence

from holdfast.kube.objects import KubeObject
from holdfast.kube.rbac import role_and_binding, service_account_subject
from holdfast.manifest.agent.exposure import PolicyRule, Security
from holdfast.manifest.agent.scaling import Scaling
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject


def render_identity(
    meta: AgentMetadata, security: Security, scaling: Scaling
) -> list[RenderedObject]:
    """ServiceAccount, and Role with RoleBinding when rights are declared or needed."""
    rendered = []
    if security.service_account.create:
        account: KubeObject = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": meta.metadata(annotations=security.service_account.annotations),
            "automountServiceAccountToken": security.automount_token,
        }
        rendered.append(RenderedObject(meta.name, "serviceaccount", account))
    rights: dict[str, list[KubeObject]] = {}
    for grant in security.rbac:
        for namespace in dict.fromkeys(grant.namespaces or (meta.namespace,)):
            rights.setdefault(namespace, []).extend(_rules(grant.rules))
    if scaling.leader_election:
        rights.setdefault(meta.namespace, []).extend(_lease_rules(meta))
    for namespace, rules in sorted(rights.items(), key=lambda each: each[0] != meta.namespace):
        rendered += _render_rights(meta, security, namespace, rules)
    return rendered


def lease_name(meta: AgentMetadata) -> str:
    """Name of the Lease that the agent's replicas take turns with."""
    return f"{meta.name}-leader"


def service_account_name(meta: AgentMetadata, security: Security) -> str:
    """Name of the ServiceAccount that the pods run as."""
    return security.service_account.name or meta.name


def _render_rights(
    meta: AgentMetadata, security: Security, namespace: str, rules: list[KubeObject]
) -> list[RenderedObject]:
    account = service_account_subject(meta.namespace, service_account_name(meta, security))
    metadata, suffix = meta.metadata(), ""
    if namespace != meta.namespace:
        # Two agents of one name may have rights in one namespace.
        metadata |= {"name": f"{meta.namespace}.{meta.name}", "namespace": namespace}
        suffix = f"-{namespace}"
    role, binding = role_and_binding(metadata, rules, account)
    return [
        RenderedObject(meta.name, f"role{suffix}", role),
        RenderedObject(meta.name, f"rolebinding{suffix}", binding),
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


def _lease_rules(meta: AgentMetadata) -> list[KubeObject]:
    """Rights to one Lease; the right to create cannot be limited to a name."""
    leases: KubeObject = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    return [
        leases | {"verbs": ["create"]},
        leases | {"verbs": ["get", "update", "patch"], "resourceNames": [lease_name(meta)]},
    ]
