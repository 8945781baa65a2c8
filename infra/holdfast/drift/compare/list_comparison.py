"""Compare two lists: by merge key, as sets, by meaning, or by position, as the type says.

The order of a keyed list is drift only where it has a meaning. Sources: core/v1 PodSpec (init
containers run one after another; a postStart hook delays the next container); core/v1 EnvVar (a
reference sees only variables defined before it); admissionregistration/v1 (mutating webhooks are
called in order).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from holdfast.drift.compare.difference import Difference, TypePosition
from holdfast.drift.compare.lists import Matching, match_any_order, match_in_order
from holdfast.drift.finding import DriftClass
from holdfast.kube.objects import mapping_at
from holdfast.kube.paths import ABSENT, ItemKey, Path
from holdfast.kube.semantics import UNORDERED_IDENTITY
from holdfast.kube.structure import ListType, Structure

_VARIABLE: Final = re.compile(r"\$\(([^()]+)\)")
_ONE_AFTER_ANOTHER: Final = frozenset({"initContainers"})
"""Fields of a pod spec, wherever one stands: custom resources carry pod templates, too."""
_CALLED_IN_ORDER: Final = "admissionregistration.v1.MutatingWebhook"
_VARIABLES: Final = "core.v1.EnvVar"


def is_order_drift(
    path: Path, item_notation: str, want: Sequence[Any], have: Sequence[Any], is_reordered: bool
) -> bool:
    """Whether two lists order the items that they share so that it means something else.

    Args:
        path: Where the list stands.
        item_notation: Type of its items, as in the table of types; empty where it is not known.
        want: Declared items.
        have: Live items.
        is_reordered: Whether the shared items stand in another order at all.
    """
    if item_notation == _VARIABLES:
        return _references_reordered(want, have)
    if not is_reordered:
        return False
    field = path[-1] if path else ""
    return (
        field in _ONE_AFTER_ANOTHER
        or item_notation == _CALLED_IN_ORDER
        or (field == "containers" and any(map(_holds_back, (*want, *have))))
    )


def _holds_back(container: object) -> bool:
    return isinstance(container, Mapping) and bool(
        mapping_at(container, "lifecycle").get("postStart")
    )


def _references_reordered(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists of environment variables resolve `$(NAME)` differently by their order.

    A reference sees only variables defined before it.
    """
    places = _positions(second)
    own = _positions(first)
    for name, place in own.items():
        value = first[place].get("value")
        for used in _VARIABLE.findall(value) if isinstance(value, str) else ():
            if used in own and used in places and name in places:
                was_before = own[used] < place
                if was_before != (places[used] < places[name]):
                    return True
    return False


def _positions(variables: Sequence[Any]) -> dict[str, int]:
    return {
        str(variable.get("name")): place
        for place, variable in enumerate(variables)
        if isinstance(variable, Mapping)
    }


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
                walk.note(position.item(ItemKey(key)), DriftClass.REMOVED, items[0], ABSENT)
        elif len(items) == len(others) == 1:
            walk.value(position.item(ItemKey(key)), items[0], others[0])
        elif items != others:
            # One key given several times: only the whole group can be compared.
            walk.note(position.item(ItemKey(key)), DriftClass.CHANGED, items, others)
    for key, items in found.items():
        if key not in wanted:
            here = position.item(ItemKey(key)).undeclared()
            walk.note(here, DriftClass.ADDED, ABSENT, items[0])
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


def _by_key(structure: Structure, items: Items) -> dict[tuple[tuple[str, Any], ...], Items]:
    """Items by the pairs of an `ItemKey`; plain tuples, since each is hashed several times."""
    defaults = structure.item.defaults
    groups: dict[tuple[tuple[str, Any], ...], Items] = {}
    for item in items:
        pairs = tuple((key, item.get(key, defaults.get(key))) for key in structure.keys)
        groups.setdefault(pairs, []).append(item)
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
