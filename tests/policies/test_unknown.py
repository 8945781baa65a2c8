"""Values that are not known yet: whatever a rule does with one, it cannot take it for known."""

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from holdfast_policies.decode.unknown import (
    PartlyKnownDict,
    PartlyKnownList,
    UndeterminedError,
    Unknown,
    is_unknown,
)

UNKNOWN: Any = Unknown("spec.image")
OPERATIONS: list[tuple[str, Callable[[Any], object]]] = [
    ("bool", bool),
    ("text", str),
    ("format", lambda value: f"{value}"),
    ("repr", repr),
    ("length", len),
    ("iteration", list),
    ("equality", lambda value: value == "x"),
    ("equality from the other side", lambda value: value == "x"),
    ("inequality", lambda value: value != "x"),
    ("order", lambda value: value < 3),
    ("membership", lambda value: "x" in value),
    ("membership in a list", lambda value: value in ["x"]),
    ("membership in a set", lambda value: value in {"x"}),
    ("key", lambda value: {value: 1}),
    ("item", operator.itemgetter("x")),
    ("attribute", operator.attrgetter("startswith")),
    ("method", lambda value: value.get("x")),
    ("class", lambda value: isinstance(value, dict)),
    ("number", int),
    ("sum", lambda value: value + 1),
    ("call", lambda value: value()),
    ("copy", copy.copy),
    ("pickle", pickle.dumps),
    ("assignment", lambda value: setattr(value, "path", "y")),
]


@pytest.mark.parametrize(("name", "operation"), OPERATIONS)
def test_every_operation_raises_and_names_the_path(
    name: str, operation: Callable[[Any], object]
) -> None:
    with pytest.raises(UndeterminedError) as caught:
        operation(UNKNOWN)
    assert caught.value.path == "spec.image", name


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda values: values["image"], id="item"),
        pytest.param(lambda values: values.get("image"), id="get"),
        pytest.param(lambda values: "image" in values, id="in"),
        pytest.param(lambda values: list(values.values()), id="values"),
        pytest.param(lambda values: list(values.items()), id="items"),
        pytest.param(lambda values: values == {"image": "x"}, id="equality"),
        pytest.param(lambda values: values != {"image": "x"}, id="inequality"),
    ],
)
def test_a_mapping_guards_the_unknown_it_holds(read: Callable[[Any], object]) -> None:
    with pytest.raises(UndeterminedError):
        read(PartlyKnownDict(image=UNKNOWN, name="agent"))


def test_a_mapping_gives_what_it_knows() -> None:
    values = PartlyKnownDict(image=UNKNOWN, name="agent")
    assert values["name"] == values.get("name") == "agent"
    assert "name" in values
    assert "other" not in values
    assert list(values) == ["image", "name"]


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda values: values[1], id="item"),
        pytest.param(lambda values: values[:], id="slice"),
        pytest.param(list, id="iteration"),
        pytest.param(lambda values: "c" in values, id="in"),
        pytest.param(lambda values: list(reversed(values)), id="reversed"),
        pytest.param(lambda values: values == ["a", "b"], id="equality"),
        pytest.param(lambda values: values != ["a", "b"], id="inequality"),
    ],
)
def test_a_list_guards_the_unknown_it_holds(read: Callable[[Any], object]) -> None:
    with pytest.raises(UndeterminedError):
        read(PartlyKnownList(["a", UNKNOWN]))


def test_a_list_gives_what_it_knows() -> None:
    values = PartlyKnownList(["a", UNKNOWN])
    assert values[0] == "a"
    assert "a" in values
    assert len(values) == 2


def test_asking_whether_it_is_unknown_is_the_one_question_that_does_not_raise() -> None:
    assert is_unknown(UNKNOWN)
    assert not is_unknown("x")
