"""Where meaning differs from what the types say, and the table of built-in types with both.

The API server calls the rules of a Role an atomic list, yet their order means nothing; a pod has
its service account under two names. Such exceptions stand here, each with its reason.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from holdfast.kube.defaults import BUILTIN_DEFAULTS
from holdfast.kube.objects import mapping_at
from holdfast.kube.structure import TypeTable, builtin

_PREFERRED_TERMS: Final = "[core.v1.PreferredSchedulingTerm]unordered"
_POD_AFFINITY: Final = {
    "preferredDuringSchedulingIgnoredDuringExecution": "[core.v1.WeightedPodAffinityTerm]unordered",
    "requiredDuringSchedulingIgnoredDuringExecution": "[core.v1.PodAffinityTerm]unordered",
}
_CORRECTIONS: Final[dict[str, dict[str, str]]] = {
    # RBAC grants are a union: neither rules nor the parts of a rule have an order.
    "rbac.v1.Role": {"rules": "[rbac.v1.PolicyRule]unordered"},
    "rbac.v1.ClusterRole": {"rules": "[rbac.v1.PolicyRule]unordered"},
    "rbac.v1.PolicyRule": dict.fromkeys(
        ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"), "[string]unordered"
    ),
    "rbac.v1.RoleBinding": {"subjects": "[rbac.v1.Subject]unordered"},
    "rbac.v1.ClusterRoleBinding": {"subjects": "[rbac.v1.Subject]unordered"},
    # The controller sorts metrics when it converts between API versions (kubernetes#74099).
    # The two directions have the same fields, but other defaults.
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": {
        "scaleUp": "*autoscaling.v2.ScaleUp",
        "scaleDown": "*autoscaling.v2.ScaleDown",
    },
    "autoscaling.v2.HorizontalPodAutoscalerSpec": {
        "metrics": "[autoscaling.v2.MetricSpec]unordered"
    },
    # The endpoint controllers write addresses in any order.
    "core.v1.Endpoints": {"subsets": "[core.v1.EndpointSubset]unordered"},
    "core.v1.PersistentVolumeClaimSpec": {"accessModes": "[string]unordered"},
    "core.v1.Capabilities": {"add": "[string]unordered", "drop": "[string]unordered"},
    # Rules, peers and ports of a network policy are unions (networking/v1 NetworkPolicySpec).
    "networking.v1.NetworkPolicySpec": {
        "ingress": "[networking.v1.NetworkPolicyIngressRule]unordered",
        "egress": "[networking.v1.NetworkPolicyEgressRule]unordered",
        "policyTypes": "[string]unordered",
    },
    "networking.v1.NetworkPolicyIngressRule": {
        "from": "[networking.v1.NetworkPolicyPeer]unordered",
        "ports": "[networking.v1.NetworkPolicyPort]unordered",
    },
    "networking.v1.NetworkPolicyEgressRule": {
        "to": "[networking.v1.NetworkPolicyPeer]unordered",
        "ports": "[networking.v1.NetworkPolicyPort]unordered",
    },
    "networking.v1.IPBlock": {"except": "[string]unordered"},
    # Requirements of a selector all hold; the terms of a node selector are alternatives.
    "meta.v1.LabelSelector": {"matchExpressions": "[meta.v1.LabelSelectorRequirement]unordered"},
    "meta.v1.LabelSelectorRequirement": {"values": "[string]unordered"},
    "core.v1.NodeSelector": {"nodeSelectorTerms": "[core.v1.NodeSelectorTerm]unordered"},
    "core.v1.NodeSelectorTerm": {
        "matchExpressions": "[core.v1.NodeSelectorRequirement]unordered",
        "matchFields": "[core.v1.NodeSelectorRequirement]unordered",
    },
    "core.v1.NodeSelectorRequirement": {"values": "[string]unordered"},
    # The scheduler adds up preferences and asks for every requirement.
    "core.v1.NodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": _PREFERRED_TERMS},
    "core.v1.PodAffinity": _POD_AFFINITY,
    "core.v1.PodAntiAffinity": _POD_AFFINITY,
    # A taint is tolerated by any toleration that matches it.
    "core.v1.PodSpec": {
        "tolerations": "[core.v1.Toleration]unordered",
        "readinessGates": "[core.v1.PodReadinessGate]unordered",
    },
    "core.v1.ServiceSpec": {
        "externalIPs": "[string]unordered",
        "loadBalancerSourceRanges": "[string]unordered",
    },
    # The policy that allows the most, or the least, is chosen (autoscaling/v2 selectPolicy).
    "autoscaling.v2.HPAScalingRules": {"policies": "[autoscaling.v2.HPAScalingPolicy]unordered"},
    "core.v1.ResourceQuotaSpec": {"scopes": "[string]unordered"},
    "core.v1.ServiceAccount": {"imagePullSecrets": "[core.v1.LocalObjectReference]unordered"},
    "core.v1.PersistentVolumeSpec": {"accessModes": "[string]unordered"},
}


def _rule_identity(rule: Mapping[str, Any]) -> object:
    parts = ("apiGroups", "resources", "resourceNames", "nonResourceURLs")
    values = (rule.get(part) or () for part in parts)
    return tuple(
        frozenset(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for value in values
    )


def _subject_identity(subject: Mapping[str, Any]) -> object:
    return tuple(str(subject.get(part) or "") for part in ("kind", "namespace", "name"))


def _metric_identity(metric: Mapping[str, Any]) -> object:
    source = next((value for value in metric.values() if isinstance(value, Mapping)), {})
    named = mapping_at(source, "metric") or source
    parts = (metric.get("type"), named.get("name"), source.get("container"))
    return tuple(str(part) for part in parts)


UNORDERED_IDENTITY: Final[dict[str, Callable[[Mapping[str, Any]], object]]] = {
    "rbac.v1.PolicyRule": _rule_identity,
    "rbac.v1.Subject": _subject_identity,
    "autoscaling.v2.MetricSpec": _metric_identity,
}
"""Type of the items of an unordered list to what identifies an item."""


def one_service_account(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Pod spec without the mirror field `serviceAccount`, which the server keeps equal."""
    if "serviceAccount" not in spec:
        return spec
    rest = {key: value for key, value in spec.items() if key != "serviceAccount"}
    rest.setdefault("serviceAccountName", spec["serviceAccount"])
    return rest


CANONICAL: Final[dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {
    "core.v1.PodSpec": one_service_account,
}
"""Type to the function that brings one of its structs into the form that is compared."""


@cache
def builtin_types() -> TypeTable:
    """Types, merge keys, quantities and defaults of everything that Kubernetes itself serves."""
    packaged = builtin()
    name = "autoscaling.v2.HPAScalingRules"
    rules = packaged.types[name] | _CORRECTIONS[name]
    copies = {"autoscaling.v2.ScaleUp": rules, "autoscaling.v2.ScaleDown": rules}
    types = copies | {
        name: fields | _CORRECTIONS.get(name, {}) for name, fields in packaged.types.items()
    }
    roots = {
        (api_version, kind): entry.type_name
        for api_version, kinds in packaged.kinds.items()
        for kind, entry in kinds.items()
    }
    return TypeTable(types, BUILTIN_DEFAULTS, roots, omits_zero=True)
