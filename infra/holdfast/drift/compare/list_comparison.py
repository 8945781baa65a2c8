"""Compare two lists: by merge key, as sets, by meaning, or by position, as the type says."""

from typing import Any, Protocol

from holdfast.drift.compare.difference import Difference, TypePosition
from holdfast.drift.compare.lists import (
    Matching,
    match_any_order,
    match_in_order,
)
from holdfast.drift.compare.order import is_order_drift
from holdfast.drift.finding import DriftClass
from holdfast.kube.paths import ABSENT, ItemKey
from holdfast.kube.semantics import UNORDERED_IDENTITY
from holdfast.kube.structure import ListType, Structure

Items = list[Any]


class Walker(Protocol):
    """What compares the items; see `comparison.Walk`."""

    found: list[Difference]

    def note(self, at: TypePosition, drift_class: DriftClass, desired: Any, live: Any) -> None:  # noqa: ANN401
        """Record one difference."""

    def value(self, position: TypePosition, want: Any, have: Any) -> None:  # noqa: ANN401  (JSON values)
        """Compare whatever stands at a position."""


def compare_lists(walk: Walker, position: TypePosition, want: Items, have: Items) -> None:
    """Compare two lists that are not equal item by item."""
    list_type = position.structure.list_type
    holds_structs = all(isinstance(item, dict) for item in (*want, *have))
    if list_type is ListType.KEYED and holds_structs and _has_keys(position.structure, want, have):
        _compare_keyed(walk, position, want, have)
    elif list_type in {ListType.SET, ListType.UNORDERED} and not holds_structs:
        _compare_sets(walk, position, want, have)
    elif holds_structs:
        _compare_structs(walk, position, want, have)
    else:
        # Scalars in order: arguments of a command say nothing one by one.
        walk.note(position, DriftClass.CHANGED, want, have)


def _compare_keyed(walk: Walker, position: TypePosition, want: Items, have: Items) -> None:
    wanted, found = _by_key(position.structure, want), _by_key(position.structure, have)
    for key, items in wanted.items():
        others = found.get(key)
        if others is None:
            if position.is_declared:
                walk.note(position.item(key), DriftClass.REMOVED, items[0], ABSENT)
        elif len(items) == len(others) == 1:
            walk.value(position.item(key), items[0], others[0])
        elif items != others:
            # One key given several times: only the whole group can be compared.
            walk.note(position.item(key), DriftClass.CHANGED, items, others)
    for key, items in found.items():
        if key not in wanted:
            walk.note(position.item(key).undeclared(), DriftClass.ADDED, ABSENT, items[0])
    shared = ([key for key in wanted if key in found], [key for key in found if key in wanted])
    notation = position.structure.item.notation
    if is_order_drift(position.path, notation, want, have, shared[0] != shared[1]):
        walk.note(position, DriftClass.CHANGED, want, have)


def _has_keys(structure: Structure, *lists: Items) -> bool:
    """Whether the merge keys of all items are scalars; other items can only go by position."""
    return not any(
        isinstance(item.get(key), dict | list)
        for items in lists
        for item in items
        for key in structure.keys
    )


def _by_key(structure: Structure, items: Items) -> dict[ItemKey, Items]:
    defaults = structure.item.defaults
    groups: dict[ItemKey, Items] = {}
    for item in items:
        pairs = tuple((key, item.get(key, defaults.get(key))) for key in structure.keys)
        groups.setdefault(ItemKey(pairs), []).append(item)
    return groups


def _compare_sets(walk: Walker, position: TypePosition, want: Items, have: Items) -> None:
    removed = [index for index, item in enumerate(want) if item not in have]
    added = [index for index, item in enumerate(have) if item not in want]
    if removed and added:
        walk.note(position, DriftClass.CHANGED, want, have)
        return
    for index in removed if position.is_declared else ():
        walk.note(position.item(index), DriftClass.REMOVED, want[index], ABSENT)
    for index in added:
        here = position.item(index)
        # An atomic list is declared as a whole: one more item is against the declaration.
        here = here if position.structure.is_atomic else here.undeclared()
        walk.note(here, DriftClass.ADDED, ABSENT, have[index])


def _compare_structs(walk: Walker, position: TypePosition, want: Items, have: Items) -> None:
    matching = _match(walk, position, want, have)
    if matching.is_permuted:
        walk.note(position, DriftClass.CHANGED, want, have)
        return
    for first, second in matching.pairs:
        walk.value(position.item(second), want[first], have[second])
    for index in matching.only_first if position.is_declared else ():
        walk.note(position.item(index), DriftClass.REMOVED, want[index], ABSENT)
    for index in matching.only_second:
        walk.note(position.item(index), DriftClass.ADDED, ABSENT, have[index])


def _match(walk: Walker, position: TypePosition, want: Items, have: Items) -> Matching:
    item = TypePosition(position.structure.item, is_in_whole=position.item(0).is_in_whole)

    def same(first: Any, second: Any) -> bool:  # noqa: ANN401  (any JSON value)
        probe = type(walk)()
        probe.value(item, first, second)
        return not any(difference.is_declared for difference in probe.found)

    if position.structure.list_type is ListType.UNORDERED:
        return match_any_order(want, have, same, UNORDERED_IDENTITY.get(item.structure.notation))
    return match_in_order(want, have, same)
