"""The laws of the comparison, on random and on fully populated objects of every kind."""

import copy
from itertools import pairwise
from typing import Any

import pytest
from holdfast.drift.compare.comparison import compare
from holdfast.drift.compare.difference import Difference
from holdfast.drift.finding import DriftClass
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.paths import ABSENT, Path, format_path, value_at, with_value
from holdfast.kube.structure import ListType, Shape, Structure
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.drift.populated import (
    KINDS,
    SCALARS,
    leaves,
    populated_object,
    random_objects,
    random_pairs,
    structure_of,
)

law = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
each_kind = pytest.mark.parametrize(
    ("api_version", "kind"), [pytest.param(*each, id=each[1]) for each in KINDS]
)


def undo(live: dict[str, Any], differences: list[Difference]) -> dict[str, Any]:
    """What putting back every reported difference makes of the live object."""
    fixed: Any = live
    # From the inside out: items that came go, from the end; then those that went come back.
    for one in sorted(differences, key=_order):
        last = one.path[-1] if one.path else None
        if one.drift_class is DriftClass.REMOVED and isinstance(last, int):
            items = list(value_at(fixed, one.path[:-1]) or [])
            items.insert(last, one.desired)
            fixed = with_value(fixed, one.path[:-1], items)
        else:
            wanted = ABSENT if one.desired is ALLOCATED else one.desired
            fixed = with_value(fixed, one.path, wanted)
    result: dict[str, Any] = fixed
    return result


def _order(one: Difference) -> tuple[int, int, int]:
    last = one.path[-1] if one.path else 0
    index = last if isinstance(last, int) else 0
    outside = -len(one.path)
    if one.drift_class is DriftClass.ADDED:
        return (outside, 0, -index)
    return (outside, 1 if one.drift_class is DriftClass.CHANGED else 2, index)


@given(random_objects())
@law
def test_an_object_does_not_differ_from_itself(drawn: tuple[str, str, dict[str, Any]]) -> None:
    api_version, kind, one = drawn
    assert compare(one, copy.deepcopy(one), structure_of(api_version, kind)) == []


@given(random_pairs())
@law
def test_putting_back_what_is_reported_leaves_nothing_to_report(
    drawn: tuple[str, str, dict[str, Any], dict[str, Any]],
) -> None:
    api_version, kind, desired, live = drawn
    structure = structure_of(api_version, kind)
    desired, live = normalise_object(desired), normalise_object(live)
    fixed = undo(live, compare(desired, live, structure))
    left = [(format_path(one.path), one) for one in compare(desired, fixed, structure)]
    assert left == []


@given(random_pairs())
@law
def test_no_path_is_reported_twice(
    drawn: tuple[str, str, dict[str, Any], dict[str, Any]],
) -> None:
    api_version, kind, desired, live = drawn
    paths = [one.path for one in compare(desired, live, structure_of(api_version, kind))]
    assert len(paths) == len(set(paths))


@given(random_pairs())
@law
def test_the_inputs_are_not_changed(
    drawn: tuple[str, str, dict[str, Any], dict[str, Any]],
) -> None:
    api_version, kind, desired, live = drawn
    before = copy.deepcopy((desired, live))
    compare(normalise_object(desired), normalise_object(live), structure_of(api_version, kind))
    assert (desired, live) == before


@given(random_objects())
@law
def test_normalising_twice_is_normalising_once(drawn: tuple[str, str, dict[str, Any]]) -> None:
    once = normalise_object(drawn[2])
    assert normalise_object(once) == once


@given(random_objects(), st.randoms(use_true_random=False))
@law
def test_the_order_of_keyed_lists_means_nothing(
    drawn: tuple[str, str, dict[str, Any]], random: Any
) -> None:
    api_version, kind, one = drawn
    structure = structure_of(api_version, kind)
    shuffled = _shuffled(structure, copy.deepcopy(one), random)
    assert compare(one, shuffled, structure) == []


def _shuffled(structure: Structure, value: Any, random: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shuffled(structure.field(key), inner, random) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    items = [_shuffled(structure.item, item, random) for item in value]
    # The order of variables counts where one uses another; that has a test of its own.
    if structure.list_type is not ListType.ATOMIC and structure.item.notation != "core.v1.EnvVar":
        random.shuffle(items)
    return items


def own_leaves(kind: str, structure: Structure, one: Any) -> list[tuple[Path, Structure]]:
    """All leaves; a pod template's only once, for all the kinds that have one."""
    found = list(leaves(structure, one))
    if kind == "Deployment":
        return found
    return [(path, leaf) for path, leaf in found if ("template", "spec") not in pairwise(path)]


@each_kind
def test_every_changed_leaf_is_found(api_version: str, kind: str) -> None:
    structure = structure_of(api_version, kind)
    desired = normalise_object(populated_object(api_version, kind))
    missed = []
    for path, leaf in own_leaves(kind, structure, desired):
        live = with_value(desired, path, _other(leaf, value_at(desired, path)))
        found = compare(desired, live, structure)
        if not any(one.is_declared and _covers(one.path, path) for one in found):
            missed.append(format_path(path))
    assert missed == []


@each_kind
def test_every_removed_leaf_is_found(api_version: str, kind: str) -> None:
    structure = structure_of(api_version, kind)
    desired = normalise_object(populated_object(api_version, kind))
    missed = []
    for path, _ in own_leaves(kind, structure, desired):
        live = with_value(desired, path, ABSENT)
        found = compare(desired, live, structure)
        if not any(one.is_declared and _covers(one.path, path) for one in found):
            missed.append(format_path(path))
    assert missed == []


@each_kind
def test_every_added_leaf_is_found(api_version: str, kind: str) -> None:
    structure = structure_of(api_version, kind)
    live = normalise_object(populated_object(api_version, kind))
    missed = []
    for path, _ in own_leaves(kind, structure, live):
        desired = with_value(live, path, ABSENT)
        found = compare(desired, live, structure)
        if not any(_covers(one.path, path) for one in found):
            missed.append(format_path(path))
    assert missed == []


def _other(leaf: Structure, value: Any) -> Any:
    if leaf.shape is Shape.SCALAR and leaf.notation in SCALARS:
        return next(each for each in SCALARS[leaf.notation] if each != value)
    return f"{value}-changed"


def _covers(reported: Path, path: Path) -> bool:
    """Whether a report is about a path: at it, or about a list or value around it."""
    return reported == path[: len(reported)] or reported[: len(path)] == path
