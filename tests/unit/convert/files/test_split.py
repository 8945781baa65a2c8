from typing import Any

import pytest
from holdfast.convert.files.files import laid_over, own_part, shared_objects, shared_part
from hypothesis import given
from hypothesis import strategies as st

KEYS = st.sampled_from(["a", "b", "spec", "name", "x.y/z"])
SCALARS = st.booleans() | st.integers(0, 2) | st.floats(0, 2) | st.sampled_from(["", "NO", "1"])
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.lists(st.dictionaries(KEYS, JSON, max_size=4), min_size=1, max_size=4)


@given(OBJECTS)
def test_the_own_part_laid_over_the_shared_part_is_the_object(objects: list[Any]) -> None:
    shared = shared_part(objects)
    for each in objects:
        # repr tells true from 1 and 1 from 1.0, as JSON does.
        assert repr(sorted_deep(laid_over(shared, own_part(each, shared)))) == repr(
            sorted_deep(each)
        )


@given(OBJECTS)
def test_an_own_part_takes_nothing_away_and_repeats_nothing(objects: list[Any]) -> None:
    shared = shared_part(objects)
    for each in objects:
        own = own_part(each, shared)
        assert shared_part([own, shared]) == {} or any_mapping(shared_part([own, shared]))


def any_mapping(value: dict[str, Any]) -> bool:
    """Whether what two objects share is only the way to what they do not share."""
    return all(isinstance(each, dict) and any_mapping(each) for each in value.values())


def sorted_deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sorted_deep(value[key]) for key in sorted(value)}
    return [sorted_deep(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("objects", "shared"),
    [
        pytest.param([{"a": 1}, {"a": 1, "b": 2}], {"a": 1}, id="a field that one has more"),
        pytest.param(
            [{"a": {"b": 1, "c": 1}}, {"a": {"b": 2, "c": 1}}], {"a": {"c": 1}}, id="deep"
        ),
        pytest.param([{"a": [1, 2]}, {"a": [1, 3]}], {}, id="a list is shared as a whole"),
        pytest.param([{"a": True}, {"a": 1}], {}, id="true is not one"),
        pytest.param([{"a": {}}, {"a": {}}], {"a": {}}, id="an empty part"),
    ],
)
def test_what_is_shared(objects: list[Any], shared: Any) -> None:
    assert shared_part(objects) == shared


def test_objects_are_the_same_by_kind_place_and_name() -> None:
    def config_map(name: str, **data: str) -> dict[str, Any]:
        metadata = {"name": name, "namespace": "cx"}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    stacks = [[config_map("a", x="1"), config_map("b")], [config_map("a", x="2")]]
    (part,) = shared_objects(stacks).values()
    assert part == config_map("a")
