"""Which item of one list stands for which item of another. Knows nothing of types or paths."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.kube.objects import canonical_json

Same = Callable[[Any, Any], bool]

LARGEST_ALIGNED_ITEMS: Final = 200
"""Longer lists are matched from both ends only: aligning costs the product of their lengths."""


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
    pairs = _identical(first, second)
    rest_first = _without(len(first), {i for i, _ in pairs})
    rest_second = _without(len(second), {j for _, j in pairs})
    tests: list[Callable[[int, int], bool]] = [lambda i, j: same(first[i], second[j])]
    if identity is not None:
        tests.append(lambda i, j: identity(first[i]) == identity(second[j]))
    for test in tests:
        found = _greedy(rest_first, rest_second, test)
        pairs += found
        taken_first, taken_second = {i for i, _ in found}, {j for _, j in found}
        rest_first = [i for i in rest_first if i not in taken_first]
        rest_second = [j for j in rest_second if j not in taken_second]
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


def _identical(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[int, int]]:
    """Pairs of items that are the same to the letter: in time that grows with the lists alone."""
    places: dict[bytes, list[int]] = {}
    for j in reversed(range(len(second))):
        places.setdefault(canonical_json(second[j]), []).append(j)
    pairs = []
    for i, item in enumerate(first):
        free = places.get(canonical_json(item))
        if free:
            pairs.append((i, free.pop()))
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
    end = 0
    while end < min(len(first), len(second)) - start and same(first[-1 - end], second[-1 - end]):
        end += 1
    tail = [(len(first) - back, len(second) - back) for back in range(end, 0, -1)]
    rows, columns = len(first) - start - end, len(second) - start - end
    if not rows or not columns or max(rows, columns) > LARGEST_ALIGNED_ITEMS:
        return head + tail
    inner = second[start : start + columns]
    equal = [[same(a, b) for b in inner] for a in first[start : start + rows]]
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
    return head + tail
