"""Label selectors, as Kubernetes evaluates them.

Source: k8s.io/apimachinery/pkg/apis/meta/v1, LabelSelector.
"""

from collections.abc import Mapping
from typing import Any

from holdfast_policies.model.subject import items, mapping, text


def selects(selector: object, labels: Mapping[str, Any], prefixes: tuple[str, ...] = ()) -> bool:
    """Whether a selector matches a set of labels; an empty selector matches every set.

    Args:
        selector: `matchLabels` and `matchExpressions`, both of which must match.
        labels: Labels of the object.
        prefixes: What may stand before a key without meaning, as Cilium's `k8s:`.
    """
    declared = mapping(selector)
    return all(
        labels.get(_plain(key, prefixes)) == value
        for key, value in mapping(declared.get("matchLabels")).items()
    ) and all(
        _expression_matches(mapping(expression), labels, prefixes)
        for expression in items(declared.get("matchExpressions"))
    )


def _expression_matches(
    expression: Mapping[str, Any], labels: Mapping[str, Any], prefixes: tuple[str, ...]
) -> bool:
    key = _plain(text(expression.get("key")), prefixes)
    values = items(expression.get("values"))
    match expression.get("operator"):
        case "In":
            return key in labels and labels.get(key) in values
        case "NotIn":
            return key not in labels or labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False


def _plain(key: str, prefixes: tuple[str, ...]) -> str:
    for prefix in prefixes:
        key = key.removeprefix(prefix)
    return key
