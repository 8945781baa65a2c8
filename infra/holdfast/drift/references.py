"""Objects that a declaration refers to without declaring them: Secrets, claims, settings of others.

They are meant to be there, so they are no strangers in a namespace. Source: core/v1 PodSpec.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from holdfast.kube.objects import KubeObject, reference_of

_NAMED_BY: Final = {
    "secretKeyRef": ("Secret", "name"),
    "secretRef": ("Secret", "name"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMap": ("ConfigMap", "name"),
    "secret": ("Secret", "name"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
    "imagePullSecrets": ("Secret", "name"),
    "roleRef": ("Role", "name"),
}
_NAMES: Final = {"secretName": "Secret", "serviceAccountName": "ServiceAccount"}


def referenced(desired: Iterable[KubeObject]) -> set[tuple[str, str, str]]:
    """Kind, namespace and name of everything that declared objects refer to."""
    return {
        (kind, reference_of(one).namespace, name)
        for one in desired
        for kind, name in _names_in(one)
    }


def _names_in(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401  (any JSON value)
    if isinstance(value, list):
        for item in value:
            yield from _names_in(item)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _NAMES and isinstance(inner, str):
                yield _NAMES[key], inner
            elif key in _NAMED_BY:
                kind, field = _NAMED_BY[key]
                holders = inner if isinstance(inner, list) else [inner]
                for holder in holders:
                    if isinstance(holder, Mapping) and isinstance(holder.get(field), str):
                        yield kind, holder[field]
            yield from _names_in(inner)
