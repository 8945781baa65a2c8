"""Where meaning differs from what the types say, and the table of built-in types with both.

The API server calls the rules of a Role an atomic list, yet their order means nothing; a pod has
its service account under two names. Such exceptions stand here, each with its reason.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from holdfast.kube.defaults import BUILTIN_DEFAULTS
from holdfast.kube.list_order import without_order
from holdfast.kube.objects import mapping_at
from holdfast.kube.structure import TypeTable, builtin

_CORRECTIONS: Final[dict[str, dict[str, str]]] = {
    # The two directions have the same fields, but other defaults.
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": {
        "scaleUp": "*autoscaling.v2.ScaleUp",
        "scaleDown": "*autoscaling.v2.ScaleDown",
    },
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


def one_data_source(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Spec of a claim with both names of its source, which the server keeps equal.

    Source: core/v1 PersistentVolumeClaimSpec, dataSourceRef.
    """
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not reference:
        return {**spec, "dataSourceRef": source}
    if reference and not source and not reference.get("namespace"):
        return {**spec, "dataSource": reference}
    return spec


CANONICAL: Final[dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {
    "core.v1.PodSpec": one_service_account,
    "core.v1.PersistentVolumeClaimSpec": one_data_source,
}
"""Type to the function that brings one of its structs into the form that is compared."""


@cache
def builtin_types() -> TypeTable:
    """Types, merge keys, quantities and defaults of everything that Kubernetes itself serves."""
    packaged = builtin()
    unordered = without_order(packaged.types)
    types = {
        name: fields | _CORRECTIONS.get(name, {}) | unordered.get(name, {})
        for name, fields in packaged.types.items()
    }
    rules = types["autoscaling.v2.HPAScalingRules"]
    types |= {"autoscaling.v2.ScaleUp": rules, "autoscaling.v2.ScaleDown": rules}
    roots = {
        (api_version, kind): entry.type_name
        for api_version, kinds in packaged.kinds.items()
        for kind, entry in kinds.items()
    }
    return TypeTable(types, BUILTIN_DEFAULTS, roots, omits_zero=True)
