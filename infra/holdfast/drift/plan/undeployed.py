"""Fields that were deployed and are declared no more: a revert keeps them, the next update removes.

A server-side apply removes every field that its manager owned and no longer sends. A revert shows
what drifted, and the files may have moved on since the last update: what they removed meanwhile is
sent with its live value, so that a revert removes nothing that its plan does not name. Pure.

Source: Kubernetes documentation, "Server-side apply".
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.drift.update_annotations import UPDATE_ANNOTATIONS
from holdfast.kube.managed_fields import owned_paths, read_managed_fields
from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import ABSENT, ItemKey, Path, json_pointer, value_at


@dataclass(frozen=True)
class KeptBody:
    """The body of an apply that removes nothing.

    Attributes:
        body: With the live value of every field that its manager owns and the declaration lacks.
        undeployed: The outermost paths that the declaration lacks: removed from the files, and
            not deployed yet.
    """

    body: KubeObject
    undeployed: tuple[Path, ...]


def with_owned_fields(
    body: KubeObject, live: Mapping[str, Any], manager: str, changed: Collection[Path]
) -> KeptBody:
    """Complete the body of an apply with what its manager owns beside it.

    Args:
        body: What is to be applied.
        live: The object as it is.
        manager: Field manager of the apply.
        changed: Paths that the revert changes: nothing at or below them is kept.
    """
    pointers = {json_pointer(dict(live), path) for path in changed} - {None}
    undeployed: list[Path] = []
    completed: Any = body
    for path in _applied_paths(live, manager):
        if _is_there(completed, path) or not _is_there(live, path):
            continue
        pointer = json_pointer(dict(live), path[:-1] if _is_set_item(path[-1]) else path)
        if any(_is_within(pointer or "", each or "") for each in pointers):
            continue
        if path not in UPDATE_ANNOTATIONS:
            undeployed.append(_outermost_absent(body, path))
        completed = _copied(completed, live, path)
    return KeptBody(completed, tuple(dict.fromkeys(undeployed)))


def _applied_paths(live: Mapping[str, Any], manager: str) -> Iterator[Path]:
    for entry in read_managed_fields(live).entries:
        if (entry.manager, entry.operation, entry.subresource) == (manager, "Apply", ""):
            yield from owned_paths(entry.fields)


def _is_set_item(segment: object) -> bool:
    """Whether a segment names an item of a set, by its value."""
    return isinstance(segment, ItemKey) and segment.pairs[0][0] == ""


def _is_there(value: Any, path: Path) -> bool:  # noqa: ANN401  (any JSON value)
    if not _is_set_item(path[-1]):
        return value_at(value, path) is not ABSENT
    items, wanted = value_at(value, path[:-1]), path[-1]
    assert isinstance(wanted, ItemKey)  # noqa: S101  (the line above has looked)
    return isinstance(items, list) and wanted.pairs[0][1] in items


def _is_within(pointer: str, changed: str) -> bool:
    return pointer == changed or pointer.startswith(f"{changed}/")


def _outermost_absent(body: KubeObject, path: Path) -> Path:
    ends = range(1, len(path))
    return next((path[:end] for end in ends if not _is_there(body, path[:end])), path)


def _copied(value: Any, live: Any, path: Path) -> Any:  # noqa: ANN401  (any JSON value)
    """The value with what the live one has at a path; items of lists stand in their live order."""
    if not path:
        return live
    segment, rest = path[0], path[1:]
    if isinstance(segment, str):
        fields = dict(value) if isinstance(value, Mapping) else {}
        return {**fields, segment: _copied(fields.get(segment, ABSENT), live[segment], rest)}
    items = list(value) if isinstance(value, list) else []
    assert isinstance(segment, ItemKey)  # noqa: S101  (field sets name items by key or value)
    if _is_set_item(segment):
        items.append(segment.pairs[0][1])
        return sorted(items, key=lambda item: live.index(item) if item in live else len(live))
    mine = next((at for at, item in enumerate(items) if segment.selects(item)), None)
    theirs = next(item for item in live if segment.selects(item))
    if mine is not None:
        items[mine] = _copied(items[mine], theirs, rest)
        return items
    items.append(_copied(dict(segment.pairs), theirs, rest))
    return sorted(items, key=lambda item: _position(live, item, segment))


def _position(live: list[Any], item: Mapping[str, Any], like: ItemKey) -> int:
    """Place of an item in the live list; behind all others when it is not there."""
    own = ItemKey(tuple((key, item.get(key, value)) for key, value in like.pairs))
    return next((at for at, each in enumerate(live) if own.selects(each)), len(live))
