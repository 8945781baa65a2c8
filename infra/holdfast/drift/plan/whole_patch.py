"""One patch for everything that a revert changes in an object: admission sees the final one. Pure.

Two requests, a removal and an apply, can each be invalid alone: of a Service that was turned into
an ExternalName, of a key that was moved to `binaryData`. Fields that a patch sets belong to its
manager as updated ones; they are recorded as applied afterwards, so that a later apply can remove
them.

Source: Kubernetes documentation, "Server-side apply", Transferring ownership; client-go,
util/csaupgrade.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.kube.paths import ABSENT, ItemKey, Path, value_at, with_value

Operation = dict[str, Any]

_WRITTEN_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_NOT_WRITTEN: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def can_be_one_patch(paths: Iterable[Path], live: Mapping[str, Any], manager: str) -> bool:
    """Whether changes can be put into one patch.

    Not where an item is named by its place in a list, which other changes move, nor where the
    manager has updated fields before: those would become applied ones, too.
    """
    updated = any(
        (entry.manager, entry.operation, entry.subresource) == (manager, "Update", "")
        for entry in read_managed_fields(live).entries
    )
    return not updated and not any(isinstance(each, int) for path in paths for each in path)


def whole_patch(
    applied: Iterable[Path], removed: Iterable[Path], body: KubeObject, live: Mapping[str, Any]
) -> tuple[Operation, ...]:
    """The operations, without guards.

    Args:
        applied: Paths that become as in the body.
        removed: Paths at which nothing stands afterwards.
        body: The declaration.
        live: The object as it is.
    """
    final: Any = dict(live)
    for path in removed:
        final = with_value(final, path, ABSENT)
    for path in applied:
        is_new = value_at(final, path) is ABSENT
        final = with_value(final, path, value_at(body, path))
        if is_new:
            final = _in_order(final, path, body)
    return tuple(_operations(live, final))


def _operations(live: Mapping[str, Any], final: Mapping[str, Any]) -> Iterator[Operation]:
    places = [(key,) for key in {**live, **final} if key not in _NOT_WRITTEN]
    for place in [*places, *(("metadata", key) for key in _WRITTEN_METADATA)]:
        before, after = value_at(live, place), value_at(final, place)
        if before == after:
            continue
        operation = {"path": "/" + "/".join(place)}
        if after is ABSENT:
            yield {"op": "remove", **operation}
        else:
            yield {"op": "add", **operation, "value": after}


def _in_order(value: Any, path: Path, body: KubeObject) -> Any:  # noqa: ANN401  (any JSON value)
    """Items that came back stand where the declaration has them: some lists are read in order."""
    for end, segment in enumerate(path):
        if not isinstance(segment, ItemKey):
            continue
        wanted, items = value_at(body, path[:end]), value_at(value, path[:end])
        if isinstance(wanted, list) and isinstance(items, list):
            value = with_value(value, path[:end], _ordered(items, wanted, segment))
    return value


def _ordered(items: list[Any], wanted: list[Any], like: ItemKey) -> list[Any]:
    keys = [key for key, _ in like.pairs]
    places = {_key(item, keys): at for at, item in enumerate(wanted)}
    at = -1
    placed = []
    for number, item in enumerate(items):
        # What is not declared stays behind the item that it stands behind.
        at = places.get(_key(item, keys), at)
        placed.append((at, number, item))
    return [item for *_, item in sorted(placed, key=lambda each: each[:2])]


def _key(item: Any, keys: Iterable[str]) -> tuple[str, ...]:  # noqa: ANN401  (any JSON value)
    return tuple(str(item.get(key)) for key in keys) if isinstance(item, Mapping) else ()


def ownership_patch(live: Mapping[str, Any], manager: str) -> tuple[Operation, ...]:
    """What records the fields that a manager has updated as applied by it; empty for nothing."""
    entries = mapping_at(live, "metadata").get("managedFields") or []
    updated = _entry(entries, manager, "Update")
    if updated is None:
        return ()
    applied = _entry(entries, manager, "Apply")
    if applied is not None and applied.get("apiVersion") != updated.get("apiVersion"):
        return ()
    merged = {**updated, "operation": "Apply"}
    if applied is not None:
        fields = _union(mapping_at(applied, "fieldsV1"), mapping_at(updated, "fieldsV1"))
        merged = {**applied, "fieldsV1": fields}
    others = [each for each in entries if each is not updated and each is not applied]
    version = live["metadata"]["resourceVersion"]
    return (
        {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]},
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/metadata/managedFields", "value": [merged, *others]},
    )


def _entry(
    entries: Iterable[Mapping[str, Any]], manager: str, operation: str
) -> Mapping[str, Any] | None:
    found = (
        each
        for each in entries
        if (each.get("manager"), each.get("operation")) == (manager, operation)
        and not each.get("subresource")
    )
    return next(found, None)


def _union(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(first)
    for key, below in second.items():
        before = both.get(key)
        both[key] = _union(before, below) if isinstance(before, Mapping) else below
    return both
