"""A Kubernetes object as plain JSON data, the reference that identifies it, and its namespace."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

KubeObject = dict[str, Any]
"""A whole object: nested dicts, lists and JSON scalars, as the API server speaks them."""

KindKey = tuple[str, str]
"""apiVersion and kind."""


NamespacedName = tuple[str, str]
"""Namespace and name of an object of a known kind."""


class Identity(NamedTuple):
    """What stays equal when an object is read in another API version."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def group_kind(self) -> tuple[str, str]:
        """The kind, in whichever version."""
        return self[:2]


@dataclass(frozen=True, order=True, slots=True)
class ObjectRef:
    """What identifies one object in a cluster; ordered by namespace, kind and name.

    Attributes:
        namespace: Empty for cluster-scoped objects.
        api_version: `apps/v1`, or `v1` for the core group.
    """

    namespace: str
    kind: str
    name: str
    api_version: str

    @property
    def group(self) -> str:
        """API group; empty for the core group."""
        return api_group(self.api_version)

    @property
    def identity(self) -> Identity:
        """What stays equal across API versions."""
        return Identity(self.group, self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"


def api_group(api_version: str) -> str:
    """Group of an apiVersion: `apps` of `apps/v1`, empty of `v1`."""
    group, separator, _ = api_version.rpartition("/")
    return group if separator else ""


def mapping_at(value: Any, *keys: str) -> Mapping[str, Any]:  # noqa: ANN401  (any JSON value)
    """The mapping below some keys; an empty one where there is none, whatever stands there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def reference_of(kube_object: Mapping[str, Any]) -> ObjectRef:
    """Reference of an object; absent parts become empty strings."""
    metadata = mapping_at(kube_object, "metadata")
    return ObjectRef(
        namespace=str(metadata.get("namespace") or ""),
        kind=str(kube_object.get("kind") or ""),
        name=str(metadata.get("name") or ""),
        api_version=str(kube_object.get("apiVersion") or ""),
    )


def canonical_json(value: object) -> bytes:
    """One text for one JSON value, whatever the order in which it was built."""
    return msgspec.json.encode(value, order="sorted")


def placed(
    objects: Iterable[KubeObject], is_namespaced: Callable[[str, str], bool | None], default: str
) -> list[KubeObject]:
    """Objects with their namespace filled in, or taken away where the kind has none.

    Law: idempotent; the input is not changed.

    Args:
        objects: Whole objects.
        is_namespaced: apiVersion and kind to whether it has namespaces; None when not known, which
            leaves the object as it is.
        default: Namespace of objects that name none.
    """
    return [_placed(one, is_namespaced(one["apiVersion"], one["kind"]), default) for one in objects]


def _placed(one: KubeObject, is_namespaced: bool | None, default: str) -> KubeObject:
    metadata = one.get("metadata") or {}
    if is_namespaced is None or bool(metadata.get("namespace")) == is_namespaced:
        return one
    rest = {key: value for key, value in metadata.items() if key != "namespace"}
    return {**one, "metadata": {**rest, "namespace": default} if is_namespaced else rest}
