"""Strategic merge: a partial object laid over a whole one, as Kubernetes' own types say.

Maps and structs merge by key, keyed lists by their merge key, sets by union; other lists and atomic
maps are replaced; null and {$patch: delete} remove. Neither input is changed.

Law: merging an empty change changes nothing; merging one change twice is merging it once.

Source: Kubernetes documentation, "Strategic merge patch"; sig-api-machinery, list and map types.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.kube.structure import ListType, Structure

REMOVAL: Final[Mapping[str, str]] = {"$patch": "delete"}
"""In place of a field, or among the fields of a list's item: it is removed."""


def strategic_merge(base: Any, change: Any, structure: Structure) -> Any:  # noqa: ANN401 - JSON
    """The base with the change laid over it.

    Args:
        base: Any JSON value.
        change: Any JSON value; null or {$patch: delete} in place of a field removes it.
        structure: What stands in this place.
    """
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        if structure.is_atomic:
            return _without_nulls(change)
        return _merge_mapping(base, change, structure)
    if isinstance(base, list) and isinstance(change, list):
        if structure.list_type is ListType.KEYED:
            return _merge_keyed(base, change, structure)
        if structure.list_type is ListType.SET:
            return [*base, *(item for item in change if item not in base)]
    return _without_nulls(change)


def _merge_mapping(
    base: Mapping[str, Any], change: Mapping[str, Any], structure: Structure
) -> dict[str, Any]:
    merged = dict(base)
    for name, value in change.items():
        if value is None or value == REMOVAL:
            merged.pop(name, None)
        elif name in merged:
            merged[name] = strategic_merge(merged[name], value, structure.field(name))
        else:
            merged[name] = _without_nulls(value)
    return merged


def _merge_keyed(base: Sequence[Any], change: Sequence[Any], structure: Structure) -> list[Any]:
    """Items of one key are merged in their place; new ones follow in the change's order."""
    items = {_key_of(item, structure): item for item in base}
    for item in change:
        key = _key_of(item, structure)
        if isinstance(item, Mapping) and REMOVAL.items() <= item.items():
            items.pop(key, None)
            continue
        old = items.get(key)
        items[key] = (
            _without_nulls(item) if old is None else strategic_merge(old, item, structure.item)
        )
    return list(items.values())


def _key_of(item: Any, structure: Structure) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Merge key of an item; what is absent is its default (the protocol of a port)."""
    fields, defaults = (item if isinstance(item, Mapping) else {}), structure.item.defaults
    return tuple(str(fields.get(key, defaults.get(key))) for key in structure.keys)


def _is_removal(value: object) -> bool:
    return value is None or value == REMOVAL


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if not _is_removal(item)}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
