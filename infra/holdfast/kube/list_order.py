"""Lists whose order means nothing, although the API server keeps it: each with its source.

What is not in this table is compared in order: arguments, sources of variables, name servers, rules
of routes and of a pod failure policy, mutating webhooks. Lists with merge keys and sets have no
order by their type; where one of those has, `drift.compare.list_comparison` says so.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class UnorderedLists:
    """Lists of some types, and why their order means nothing.

    Attributes:
        source: Where the API says so.
        lists: Type to its fields.
    """

    source: str
    lists: dict[str, tuple[str, ...]]


_RULE_PARTS: Final = ("apiGroups", "apiVersions", "operations", "resources")
_NODE_PREFERENCE: Final = ("preferredDuringSchedulingIgnoredDuringExecution",)
_POD_AFFINITY: Final = (*_NODE_PREFERENCE, "requiredDuringSchedulingIgnoredDuringExecution")

UNORDERED_LISTS: Final = (
    UnorderedLists(
        "rbac/v1: rights only add up, and every part of a rule is a set of alternatives",
        {
            "rbac.v1.Role": ("rules",),
            "rbac.v1.ClusterRole": ("rules",),
            "rbac.v1.PolicyRule": (
                "verbs",
                "apiGroups",
                "resources",
                "resourceNames",
                "nonResourceURLs",
            ),
            "rbac.v1.RoleBinding": ("subjects",),
            "rbac.v1.ClusterRoleBinding": ("subjects",),
            "rbac.v1.AggregationRule": ("clusterRoleSelectors",),
        },
    ),
    UnorderedLists(
        "autoscaling/v2: the largest proposal wins, selectPolicy chooses among policies; the"
        " controller sorts metrics when it converts (kubernetes#74099)",
        {
            "autoscaling.v2.HorizontalPodAutoscalerSpec": ("metrics",),
            "autoscaling.v2.HPAScalingRules": ("policies",),
        },
    ),
    UnorderedLists(
        "networking/v1 NetworkPolicySpec: rules, peers and ports are combined by OR",
        {
            "networking.v1.NetworkPolicySpec": ("ingress", "egress", "policyTypes"),
            "networking.v1.NetworkPolicyIngressRule": ("from", "ports"),
            "networking.v1.NetworkPolicyEgressRule": ("to", "ports"),
            "networking.v1.IPBlock": ("except",),
        },
    ),
    UnorderedLists(
        "networking/v1 IngressTLS: the hosts that one certificate is for",
        {"networking.v1.IngressTLS": ("hosts",)},
    ),
    UnorderedLists(
        "meta/v1 LabelSelector: requirements are combined by AND, values by OR",
        {
            "meta.v1.LabelSelector": ("matchExpressions",),
            "meta.v1.LabelSelectorRequirement": ("values",),
        },
    ),
    UnorderedLists(
        "core/v1 NodeSelector, TopologySelectorTerm: terms are alternatives, requirements all hold",
        {
            "core.v1.NodeSelector": ("nodeSelectorTerms",),
            "core.v1.NodeSelectorTerm": ("matchExpressions", "matchFields"),
            "core.v1.NodeSelectorRequirement": ("values",),
            "core.v1.TopologySelectorTerm": ("matchLabelExpressions",),
            "core.v1.TopologySelectorLabelRequirement": ("values",),
            "storage.v1.StorageClass": ("allowedTopologies",),
        },
    ),
    UnorderedLists(
        "core/v1 Affinity: the scheduler adds up preferences and asks for every requirement",
        {
            "core.v1.NodeAffinity": _NODE_PREFERENCE,
            "core.v1.PodAffinity": _POD_AFFINITY,
            "core.v1.PodAntiAffinity": _POD_AFFINITY,
            "core.v1.PodAffinityTerm": ("namespaces", "matchLabelKeys", "mismatchLabelKeys"),
            "core.v1.TopologySpreadConstraint": ("matchLabelKeys",),
        },
    ),
    UnorderedLists(
        "core/v1 PodSpec: any toleration suffices, every gate is asked for",
        {
            "core.v1.PodSpec": ("tolerations", "readinessGates"),
            "node.v1.Scheduling": ("tolerations",),
            "core.v1.NodeSpec": ("taints",),
        },
    ),
    UnorderedLists(
        "core/v1 SecurityContext: capabilities, groups and kernel settings are sets",
        {
            "core.v1.Capabilities": ("add", "drop"),
            "core.v1.PodSecurityContext": ("supplementalGroups", "sysctls"),
        },
    ),
    UnorderedLists(
        "core/v1 KeyToPath: each key goes to its own path, which may stand once",
        {
            "core.v1.ConfigMapVolumeSource": ("items",),
            "core.v1.ConfigMapProjection": ("items",),
            "core.v1.SecretVolumeSource": ("items",),
            "core.v1.SecretProjection": ("items",),
            "core.v1.DownwardAPIVolumeSource": ("items",),
            "core.v1.DownwardAPIProjection": ("items",),
        },
    ),
    UnorderedLists(
        "core/v1 Container: one policy per resource",
        {"core.v1.Container": ("resizePolicy",), "core.v1.EphemeralContainer": ("resizePolicy",)},
    ),
    UnorderedLists(
        "core/v1: sets of modes, addresses, scopes, limits and references",
        {
            "core.v1.PersistentVolumeClaimSpec": ("accessModes",),
            "core.v1.PersistentVolumeSpec": ("accessModes",),
            "core.v1.ServiceSpec": ("externalIPs", "loadBalancerSourceRanges"),
            "core.v1.ResourceQuotaSpec": ("scopes",),
            "core.v1.ScopeSelector": ("matchExpressions",),
            "core.v1.ScopedResourceSelectorRequirement": ("values",),
            "core.v1.LimitRangeSpec": ("limits",),
            "core.v1.ServiceAccount": ("imagePullSecrets",),
        },
    ),
    UnorderedLists(
        "core/v1 Endpoints, discovery/v1: the controllers write addresses in any order",
        {
            "core.v1.Endpoints": ("subsets",),
            "core.v1.EndpointSubset": ("addresses", "notReadyAddresses", "ports"),
            "discovery.v1.EndpointSlice": ("endpoints", "ports"),
            "discovery.v1.EndpointHints": ("forNodes", "forZones"),
        },
    ),
    UnorderedLists(
        "admissionregistration/v1: a request matches by any rule, a rule by any combination",
        {
            "admissionregistration.v1.MatchResources": ("resourceRules", "excludeResourceRules"),
            "admissionregistration.v1.MutatingWebhook": ("rules",),
            "admissionregistration.v1.ValidatingWebhook": ("rules",),
            "admissionregistration.v1.RuleWithOperations": _RULE_PARTS,
            "admissionregistration.v1.NamedRuleWithOperations": (*_RULE_PARTS, "resourceNames"),
        },
    ),
    UnorderedLists(
        "apiextensions/v1: sets of names; JSON Schema: required and enum are sets",
        {
            "apiextensions.v1.CustomResourceDefinitionNames": ("categories", "shortNames"),
            "apiextensions.v1.JSONSchemaProps": ("required", "enum"),
        },
    ),
    UnorderedLists(
        "flowcontrol/v1: a request matches by any rule, subject and part of a rule",
        {
            "flowcontrol.v1.FlowSchemaSpec": ("rules",),
            "flowcontrol.v1.PolicyRulesWithSubjects": (
                "nonResourceRules",
                "resourceRules",
                "subjects",
            ),
        },
    ),
    UnorderedLists(
        "resource.k8s.io/v1: selectors and constraints all hold, any toleration suffices",
        {
            "resource.v1.DeviceClaim": ("constraints",),
            "resource.v1.DeviceConstraint": ("requests",),
            "resource.v1.DeviceClaimConfiguration": ("requests",),
            "resource.v1.DeviceClassSpec": ("selectors",),
            "resource.v1.DeviceSubRequest": ("selectors", "tolerations"),
            "resource.v1.ExactDeviceRequest": ("selectors", "tolerations"),
        },
    ),
    UnorderedLists(
        "storage/v1: one token per audience, one topology key per label",
        {
            "storage.v1.CSIDriverSpec": ("tokenRequests",),
            "storage.v1.CSINodeDriver": ("topologyKeys",),
        },
    ),
    UnorderedLists(
        "certificates/v1: sets of groups and usages",
        {"certificates.v1.CertificateSigningRequestSpec": ("groups", "usages")},
    ),
)


def without_order(types: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The fields of the table above, each with the notation of an unordered list of its items."""
    fields = {
        name: {field: _unordered(types[name][field]) for field in chosen}
        for each in UNORDERED_LISTS
        for name, chosen in each.lists.items()
    }
    names = [name for each in UNORDERED_LISTS for name in each.lists]
    assert len(names) == len(fields), "a type stands in one row"  # noqa: S101  (of the table)
    return fields


def _unordered(notation: str) -> str:
    return f"{notation[: notation.rindex(']') + 1]}unordered"
