from typing import Any

import pytest
from holdfast.drift.compare.lists import Matching, match_any_order, match_in_order
from hypothesis import given
from hypothesis import strategies as st


def same(first: Any, second: Any) -> bool:
    return bool(first == second)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("abc", "abc", Matching(((0, 0), (1, 1), (2, 2)), (), ()), id="equal"),
        pytest.param("ab", "xab", Matching(((0, 1), (1, 2)), (), (0,)), id="inserted first"),
        pytest.param("abc", "ac", Matching(((0, 0), (2, 1)), (1,), ()), id="removed"),
        pytest.param("ab", "ax", Matching(((0, 0), (1, 1)), (), ()), id="one place changed"),
        pytest.param("", "a", Matching((), (), (0,)), id="from nothing"),
    ],
)
def test_ordered_lists_are_aligned(first: str, second: str, expected: Matching) -> None:
    assert match_in_order(first, second, same) == expected


def test_the_same_items_in_another_order_are_a_permutation() -> None:
    assert match_in_order("abc", "cab", same).is_permuted


def test_order_free_lists_are_matched_by_value_then_identity_then_place() -> None:
    first = [("a", 1), ("b", 1), ("c", 1)]
    second = [("c", 1), ("b", 2), ("x", 9)]
    matching = match_any_order(first, second, same, identity=lambda item: item[0])
    assert matching.pairs == ((1, 1), (2, 0))
    assert (matching.only_first, matching.only_second) == ((0,), (2,))


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_every_item_has_one_partner_or_none(first: list[int], second: list[int]) -> None:
    for matching in (match_in_order(first, second, same), match_any_order(first, second, same)):
        if matching.is_permuted:
            continue
        left = [i for i, _ in matching.pairs] + list(matching.only_first)
        right = [j for _, j in matching.pairs] + list(matching.only_second)
        assert sorted(left) == list(range(len(first)))
        assert sorted(right) == list(range(len(second)))


def test_long_lists_are_matched_without_aligning_the_middle() -> None:
    first, second = list(range(500)), [-1, *range(500)]
    assert len(match_in_order(first, second, same).only_second) == 1


def test_one_item_put_in_front_of_a_long_list_is_the_only_difference() -> None:
    first = [f"peer {place}" for place in range(250)]
    matching = match_in_order(first, ["new", *first], same)
    assert (matching.only_first, matching.only_second) == ((), (0,))


def test_items_that_are_the_same_to_the_letter_are_matched_without_comparing_each_pair() -> None:
    asked = 0

    def counted(first: Any, second: Any) -> bool:
        nonlocal asked
        asked += 1
        return same(first, second)

    items = [{"verbs": ["get"], "resources": [f"r{place}"]} for place in range(400)]
    matching = match_any_order(items, items[::-1], counted)
    assert len(matching.pairs) == 400
    assert asked == 0
