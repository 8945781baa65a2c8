"""Kinds as an API server names them in its addresses, which is how policies say what they judge."""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast_policies.model.kinds import AGENT_EXTENSIONS, AGENTS, ANY_KIND, POD_KINDS, RBAC, Kind

_POD = Kind("", "Pod")
_PLURALS: Mapping[Kind, str] = {
    _POD: "pods",
    Kind("", "PodTemplate"): "podtemplates",
    Kind("", "ReplicationController"): "replicationcontrollers",
    Kind("", "Service"): "services",
    Kind("", "ServiceAccount"): "serviceaccounts",
    Kind("", "Secret"): "secrets",
    Kind("", "ConfigMap"): "configmaps",
    Kind("", "PersistentVolumeClaim"): "persistentvolumeclaims",
    Kind("apps", "ReplicaSet"): "replicasets",
    Kind("apps", "Deployment"): "deployments",
    Kind("apps", "StatefulSet"): "statefulsets",
    Kind("apps", "DaemonSet"): "daemonsets",
    Kind("argoproj.io", "Rollout"): "rollouts",
    Kind("autoscaling", "HorizontalPodAutoscaler"): "horizontalpodautoscalers",
    Kind("batch", "Job"): "jobs",
    Kind("batch", "CronJob"): "cronjobs",
    Kind("cilium.io", "CiliumNetworkPolicy"): "ciliumnetworkpolicies",
    Kind("gateway.networking.k8s.io", "Gateway"): "gateways",
    Kind("gateway.networking.k8s.io", "HTTPRoute"): "httproutes",
    Kind("keda.sh", "ScaledJob"): "scaledjobs",
    Kind("keda.sh", "ScaledObject"): "scaledobjects",
    Kind("networking.k8s.io", "Ingress"): "ingresses",
    Kind("networking.k8s.io", "NetworkPolicy"): "networkpolicies",
    Kind(RBAC, "Role"): "roles",
    Kind(RBAC, "ClusterRole"): "clusterroles",
    Kind(RBAC, "RoleBinding"): "rolebindings",
    Kind(RBAC, "ClusterRoleBinding"): "clusterrolebindings",
    Kind(AGENTS, "Sandbox"): "sandboxes",
    Kind(AGENT_EXTENSIONS, "SandboxClaim"): "sandboxclaims",
    Kind(AGENT_EXTENSIONS, "SandboxTemplate"): "sandboxtemplates",
    Kind(AGENT_EXTENSIONS, "SandboxWarmPool"): "sandboxwarmpools",
}
CLUSTER_SCOPED = frozenset({Kind(RBAC, "ClusterRole"), Kind(RBAC, "ClusterRoleBinding")})
"""Kinds among them that are in no namespace."""


def resource_rules(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """`matchConstraints.resourceRules` for kinds, in every version; sorted by group.

    Pods are judged when a container is attached to them, too.
    """
    judged = frozenset(kinds)
    if ANY_KIND in judged:
        judged = POD_KINDS | frozenset(_PLURALS)
    by_group: dict[str, list[str]] = {}
    for kind in judged:
        if kind in _PLURALS:  # others are judged before they reach the cluster only
            by_group.setdefault(kind.group, []).append(_PLURALS[kind])
    if _POD in judged:
        by_group[""].append("pods/ephemeralcontainers")
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"],
            "resources": sorted(resources),
            "scope": "*",
        }
        for group, resources in sorted(by_group.items())
    ]


def kind_matches(kinds: Iterable[Kind]) -> list[dict[str, list[str]]]:
    """Kinds by group and name, as Gatekeeper's constraints say what they judge."""
    judged = frozenset(kinds)
    if ANY_KIND in judged:
        judged = frozenset(_PLURALS)
    by_group: dict[str, list[str]] = {}
    for kind in judged:
        by_group.setdefault(kind.group, []).append(kind.name)
    return [
        {"apiGroups": [group], "kinds": sorted(names)} for group, names in sorted(by_group.items())
    ]
