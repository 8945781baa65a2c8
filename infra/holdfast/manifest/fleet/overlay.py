"""Merging the part of a spec that one environment changes, with the origin of every value.

Maps merge by key; lists of `MERGE_KEYS` item by item (env, ports, storage, secrets by `name`,
schedules and triggers by `id`); other lists are replaced; null removes, and so does an item of
which only its key is left.
"""

from typing import Any

from holdfast.manifest.agent.agent_checks import MERGE_KEYS
from holdfast.manifest.text.origin import Origin


def overlay_spec(
    base: dict[str, Any], base_origin: Origin, change: dict[str, Any], change_origin: Origin
) -> tuple[dict[str, Any], Origin]:
    """A spec with a partial spec laid over it; neither is changed.

    Law: laying over an empty mapping changes nothing.
    """
    merged, origin = _over_mapping(base, base_origin, change, change_origin, ())
    return merged, origin


def _over_mapping(
    base: dict[str, Any],
    base_origin: Origin,
    change: dict[str, Any],
    change_origin: Origin,
    path: tuple[str, ...] | None = None,
) -> tuple[dict[str, Any], Origin]:
    """The merged mapping; `path` is None within items, where no list has a merge key."""
    merged = dict(base)
    children = dict(_children_by_key(base_origin))
    new_children = _children_by_key(change_origin)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
            children.pop(key, None)
            continue
        old, place = merged.get(key), new_children[key]
        below = None if path is None else (*path, key)
        item_key = MERGE_KEYS.get(below, "") if below is not None else ""
        if isinstance(value, dict) and isinstance(old, dict):
            merged[key], children[key] = _over_mapping(old, children[key], value, place, below)
        elif item_key and _has_keys(value, item_key) and _has_keys(old, item_key):
            merged[key], children[key] = _over_items(old, children[key], value, place, item_key)
        else:
            merged[key], children[key] = _without_nulls(value), place
    return merged, base_origin.with_children(children)


def _over_items(
    base: Any,  # noqa: ANN401 - lists of named mappings, checked by the caller
    base_origin: Origin,
    change: Any,  # noqa: ANN401 - see above
    change_origin: Origin,
    key: str,
) -> tuple[list[Any], Origin]:
    items: dict[str, tuple[dict[str, Any], Origin]] = {}
    for item, place in zip(base, _children_by_index(base_origin), strict=True):
        items[item[key]] = (item, place)
    for item, place in zip(change, _children_by_index(change_origin), strict=True):
        old, old_place = items.get(item[key], ({}, place))
        merged, merged_place = _over_mapping(old, old_place, item, place)
        if merged.keys() == {key}:
            items.pop(item[key], None)
        else:
            items[item[key]] = (merged, merged_place)
    values = [item for item, _ in items.values()]
    return values, base_origin.with_children([place for _, place in items.values()])


def _has_keys(value: object, key: str) -> bool:
    if not isinstance(value, list):
        return False
    names = [item.get(key) if isinstance(item, dict) else None for item in value]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - plain data
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _children_by_key(origin: Origin) -> dict[str, Origin]:
    return origin.children if isinstance(origin.children, dict) else {}


def _children_by_index(origin: Origin) -> list[Origin]:
    return origin.children if isinstance(origin.children, list) else []
