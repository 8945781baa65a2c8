"""Which item of one list stands for which item of another. Knows nothing of types or paths."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Same = Callable[[Any, Any], bool]

LARGEST_ALIGNED_ITEMS: Final = 200
"""Longer lists are matched from both ends only: aligning costs the product of their lengths."""

_VARIABLE: Final = re.compile(r"\$\(([^()]+)\)")


@dataclass(frozen=True)
class Matching:
    """How the items of two lists belong together.

    Attributes:
        pairs: Index in the first list and in the second.
        only_first: Indices of the first list without a partner.
        only_second: Indices of the second list without a partner.
        is_permuted: The lists hold the same items, but in another order.
    """

    pairs: tuple[tuple[int, int], ...]
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]
    is_permuted: bool = False


def match_in_order(first: Sequence[Any], second: Sequence[Any], same: Same) -> Matching:
    """Match lists whose order counts: most equal items in order, then what stands at one place."""
    pairs = _longest_common(first, second, same)
    rest_first = _without(len(first), {i for i, _ in pairs})
    rest_second = _without(len(second), {j for _, j in pairs})
    if rest_first and len(rest_first) == len(rest_second):
        moved = _greedy(rest_first, rest_second, lambda i, j: same(first[i], second[j]))
        if len(moved) == len(rest_first):
            return Matching(tuple(pairs), (), (), is_permuted=True)
    return _with_same_places(pairs, rest_first, rest_second)


def match_any_order(
    first: Sequence[Any],
    second: Sequence[Any],
    same: Same,
    identity: Callable[[Any], Hashable] | None = None,
) -> Matching:
    """Match lists whose order means nothing: equal items, then one identity, then one place."""
    rest_first, rest_second = list(range(len(first))), list(range(len(second)))
    pairs: list[tuple[int, int]] = []
    tests: list[Callable[[int, int], bool]] = [lambda i, j: same(first[i], second[j])]
    if identity is not None:
        tests.append(lambda i, j: identity(first[i]) == identity(second[j]))
    for test in tests:
        pairs += _greedy(rest_first, rest_second, test)
        rest_first = [i for i in rest_first if all(i != pair[0] for pair in pairs)]
        rest_second = [j for j in rest_second if all(j != pair[1] for pair in pairs)]
    return _with_same_places(pairs, rest_first, rest_second)


def _with_same_places(
    pairs: list[tuple[int, int]], rest_first: list[int], rest_second: list[int]
) -> Matching:
    places = set(rest_first) & set(rest_second)
    return Matching(
        tuple(sorted([*pairs, *((place, place) for place in places)])),
        tuple(i for i in rest_first if i not in places),
        tuple(j for j in rest_second if j not in places),
    )


def _greedy(
    first: Sequence[int], second: Sequence[int], test: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    free = list(second)
    pairs = []
    for i in first:
        partner = next((j for j in free if test(i, j)), None)
        if partner is not None:
            pairs.append((i, partner))
            free.remove(partner)
    return pairs


def _without(length: int, taken: set[int]) -> list[int]:
    return [index for index in range(length) if index not in taken]


def _longest_common(
    first: Sequence[Any], second: Sequence[Any], same: Same
) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence."""
    start = 0
    while start < min(len(first), len(second)) and same(first[start], second[start]):
        start += 1
    head = [(index, index) for index in range(start)]
    rows, columns = len(first) - start, len(second) - start
    if not rows or not columns or max(rows, columns) > LARGEST_ALIGNED_ITEMS:
        return head
    equal = [[same(a, b) for b in second[start:]] for a in first[start:]]
    lengths = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            lengths[i][j] = (
                lengths[i + 1][j + 1] + 1
                if equal[i][j]
                else max(lengths[i + 1][j], lengths[i][j + 1])
            )
    i = j = 0
    while i < rows and j < columns:
        if equal[i][j]:
            head.append((start + i, start + j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return head


def references_reordered(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists of environment variables resolve `$(NAME)` differently by their order.

    A reference sees only variables defined before it.
    """
    places = _places(second)
    own = _places(first)
    for name, place in own.items():
        value = first[place].get("value")
        for used in _VARIABLE.findall(value) if isinstance(value, str) else ():
            if used in own and used in places and name in places:
                was_before = own[used] < place
                if was_before != (places[used] < places[name]):
                    return True
    return False


def _places(variables: Sequence[Any]) -> dict[str, int]:
    return {
        str(variable.get("name")): place
        for place, variable in enumerate(variables)
        if isinstance(variable, Mapping)
    }
