"""Objects with every field of their type set, and random ones: the material of the laws."""

from collections.abc import Iterator
from typing import Any

from holdfast.kube.paths import ItemKey, Path
from holdfast.kube.semantics import builtin_types
from holdfast.kube.structure import ListType, Shape, Structure
from hypothesis import strategies as st

KINDS = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Namespace"),
    ("v1", "LimitRange"),
    ("v1", "ResourceQuota"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("networking.k8s.io/v1", "Ingress"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
)
SCALARS: dict[str, tuple[Any, ...]] = {
    "boolean": (True, False),
    "integer": (7, 8, 80),
    "number": (1.5, 2.5),
    "quantity": ("250m", "1Gi", "3"),
    "int-or-string": (5, "50%", 6),
    "duration": ("1h", "90s"),
}
SKIPPED_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generateName",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
# Which of two names a service account has, and the rules an aggregate collects, are not compared.
SKIPPED_FIELDS = frozenset(
    {"serviceAccount", "aggregationRule", "stringData", "apiVersion", "kind"}
)
MAX_DEPTH = 14


def structure_of(api_version: str, kind: str) -> Structure:
    structure = builtin_types().structure_of(api_version, kind)
    assert structure is not None
    return structure


def populated_object(api_version: str, kind: str) -> dict[str, Any]:
    """Every field of the kind set to something that is no default."""
    body = _populated(structure_of(api_version, kind), 0)
    return _named(api_version, kind, body)


def _named(api_version: str, kind: str, body: dict[str, Any]) -> dict[str, Any]:
    metadata = {**(body.get("metadata") or {}), "name": "one", "namespace": "agents"}
    return {**body, "apiVersion": api_version, "kind": kind, "metadata": metadata}


def _populated(structure: Structure, depth: int) -> Any:
    if structure.shape is Shape.STRUCT:
        fields = _field_names(structure)
        values = {name: _populated(structure.field(name), depth + 1) for name in fields}
        return {name: value for name, value in values.items() if value not in ({}, [])}
    if depth >= MAX_DEPTH:
        return {} if structure.shape is Shape.MAP else []
    if structure.shape is Shape.MAP:
        return {key: _populated(structure.field(key), depth + 1) for key in ("a.example/x", "b")}
    if structure.shape is Shape.LIST:
        return _populated_list(structure, depth)
    return SCALARS.get(structure.notation, ("text",))[0]


def _populated_list(structure: Structure, depth: int) -> list[Any]:
    if structure.item.shape is Shape.SCALAR:
        return ["first", "second"]
    items = [_populated(structure.item, depth + 1) for _ in range(2)]
    for number, item in enumerate(items):
        for key in structure.keys:
            item[key] = number + 1 if isinstance(item.get(key), int) else f"item-{number}"
    return items if structure.keys else items[:1]


def _field_names(structure: Structure) -> list[str]:
    names = structure._fields
    skipped = SKIPPED_FIELDS | (
        SKIPPED_METADATA if structure.notation == "meta.v1.ObjectMeta" else frozenset()
    )
    # A pod template inside an ephemeral volume, and a claim's status, say nothing new.
    return [name for name in names if name not in skipped and name not in {"!", "*", "ephemeral"}]


def leaves(structure: Structure, value: Any, path: Path = ()) -> Iterator[tuple[Path, Structure]]:
    """Paths of all scalars of an object, items of keyed lists by key."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if not path and name in {"apiVersion", "kind"}:
                continue
            if path == ("metadata",) and name in {"name", "namespace"}:
                continue
            yield from leaves(structure.field(name), inner, (*path, name))
    elif isinstance(value, list) and structure.list_type is ListType.KEYED:
        for item in value:
            key = ItemKey(tuple((name, item[name]) for name in structure.keys))
            rest = {name: inner for name, inner in item.items() if name not in structure.keys}
            yield from leaves(structure.item, rest, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(structure.item, item, (*path, index))
    else:
        yield path, structure


@st.composite
def random_objects(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    """apiVersion, kind and a random object of that kind."""
    api_version, kind = draw(st.sampled_from(KINDS))
    body = draw(_values(structure_of(api_version, kind), 0))
    return api_version, kind, _named(api_version, kind, body)


@st.composite
def random_pairs(draw: st.DrawFn) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """Two random objects of one kind that share some of their parts."""
    api_version, kind, first = draw(random_objects())
    second = draw(_values(structure_of(api_version, kind), 0))
    merged = dict(first) | {
        name: value for name, value in second.items() if draw(st.booleans()) and name != "metadata"
    }
    if draw(st.booleans()):
        merged = _named(api_version, kind, {**merged, "metadata": second.get("metadata") or {}})
    return api_version, kind, first, merged


@st.composite
def _values(draw: st.DrawFn, structure: Structure, depth: int) -> Any:
    if structure.shape is Shape.STRUCT:
        names = _field_names(structure)
        chosen = (
            []
            if depth >= MAX_DEPTH or not names
            else draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=4))
        )
        return {name: draw(_values(structure.field(name), depth + 1)) for name in chosen}
    if structure.shape is Shape.MAP:
        keys = draw(st.lists(st.sampled_from(["a.example/x", "b", "c"]), unique=True, max_size=3))
        return {key: draw(_values(structure.field(key), depth + 1)) for key in keys}
    if structure.shape is Shape.LIST:
        return draw(_lists(structure, depth))
    return draw(st.sampled_from(SCALARS.get(structure.notation, ("text", "other", "$(item-1)"))))


@st.composite
def _lists(draw: st.DrawFn, structure: Structure, depth: int) -> list[Any]:
    if structure.item.shape is not Shape.STRUCT:
        return draw(st.lists(st.sampled_from(["x", "y", "z"]), max_size=3, unique=True))
    items = draw(st.lists(_values(structure.item, depth + 1), max_size=3))
    if not structure.keys:
        return items
    numbers = draw(st.lists(st.integers(1, 5), unique=True, min_size=len(items), max_size=5))
    for item, number in zip(items, numbers, strict=False):
        for key in structure.keys:
            is_number = structure.item.field(key).notation == "integer"
            item[key] = number if is_number else f"item-{number}"
    return items
