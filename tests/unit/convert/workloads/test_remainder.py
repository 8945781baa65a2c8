"""What is taken is gone, and what was never taken is left."""

from typing import Any

from holdfast.convert.workloads.remainder import Remainder
from hypothesis import given
from hypothesis import strategies as st

TREES = st.recursive(
    st.integers() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


def paths(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(tree, dict):
        return [path]
    return [found for key, below in tree.items() for found in paths(below, (*path, key))]


@given(OBJECTS)
def test_what_nobody_takes_is_left_and_the_object_is_not_changed(tree: dict[str, Any]) -> None:
    left = Remainder(tree)
    assert left.left == tree
    assert len(list(left.leaves())) == len(paths(tree))
    for path in paths(tree):
        left.take(*path)
    assert left.left == {}
    assert list(left.leaves()) == []


@given(OBJECTS, st.data())
def test_taking_one_value_leaves_the_others(tree: dict[str, Any], data: st.DataObject) -> None:
    known = paths(tree)
    if not known:
        return
    chosen = data.draw(st.sampled_from(known))
    left = Remainder(tree)
    left.take(*chosen)
    assert (
        sorted(paths(left.left))
        == sorted(path for path in known if path != chosen or len(known) < 1)
        or left.left == {}
    )


def test_an_absent_value_is_the_default_and_takes_nothing() -> None:
    left = Remainder({"a": {"b": 1}})
    assert left.take("a", "c", default=3) == 3
    assert left.take("x", "y") is None
    assert left.left == {"a": {"b": 1}}


def test_a_part_shrinks_with_what_is_taken_from_it() -> None:
    part = {"b": 1, "c": 2}
    Remainder.of(part).take("b")
    assert part == {"c": 2}


def test_what_holds_anyway_is_dropped_and_what_differs_is_not() -> None:
    left = Remainder({"a": 1, "b": {"c": 2, "d": 3}, "e": {"f": 1}})
    left.drop_equal({"a": 1, "b": {"c": 9, "d": 3}, "e": {"f": 1}, "absent": 4})
    assert left.left == {"b": {"c": 2}}


def test_items_of_lists_are_reported_by_name_where_they_have_one() -> None:
    left = Remainder({"env": [{"name": "A", "value": "1"}], "args": ["x"]})
    assert dict(left.leaves()) == {
        "env[name=A].name": "A",
        "env[name=A].value": "1",
        "args[0]": "x",
    }
