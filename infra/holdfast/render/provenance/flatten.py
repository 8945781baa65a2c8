"""Leaves of a rendered object, by paths that stay the same when its lists are reordered. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from holdfast.kube.paths import ItemKey, Path, Segment

_ITEM_NAMES: Final = ("name", "mountPath", "containerPort", "port", "topologyKey", "key")


def leaves_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401  (JSON)
    """Every scalar and empty collection below a value, with its path."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves_of(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves_of(item, (*path, _token(index, item)))
    else:
        yield path, value


def tokens_of(path: Path, value: Any) -> Path:  # noqa: ANN401  (any JSON value)
    """A path of a finding in the words of `leaves_of`, as far as the object has it."""
    tokens: list[Segment] = []
    for segment in path:
        if isinstance(segment, str):
            if not isinstance(value, Mapping) or segment not in value:
                break
            tokens.append(segment)
            value = value[segment]
            continue
        items = value if isinstance(value, list) else []
        found = next((at for at, item in enumerate(items) if _is_meant(segment, at, item)), None)
        if found is None:
            break
        tokens.append(_token(found, items[found]))
        value = items[found]
    return tuple(tokens)


def _is_meant(segment: int | ItemKey, index: int, item: object) -> bool:
    return segment.selects(item) if isinstance(segment, ItemKey) else segment == index


def _token(index: int, item: object) -> int | ItemKey:
    """What identifies an item here, whatever the merge keys of its list are."""
    if isinstance(item, Mapping):
        for name in _ITEM_NAMES:
            if isinstance(item.get(name), str | int):
                return ItemKey(((name, item[name]),))
    return index
