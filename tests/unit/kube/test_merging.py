"""Laws and cases of the merge that pod.overrides are laid over a pod with."""

from typing import Any

import pytest
from holdfast.kube.merging import strategic_merge
from holdfast.kube.semantics import builtin_types
from holdfast.kube.structure import Structure
from hypothesis import given
from hypothesis import strategies as st

POD = Structure("core.v1.PodSpec", builtin_types())
NAMES = st.sampled_from(["agent", "proxy", "seed"])
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES},
        optional={
            "tty": st.booleans(),
            "args": st.lists(st.text(max_size=3), max_size=2),
            "env": st.lists(
                st.fixed_dictionaries(
                    {"name": st.sampled_from("ABC"), "value": st.text(max_size=2)}
                ),
                unique_by=lambda each: each["name"],
                max_size=3,
            ),
        },
    ),
    unique_by=lambda each: each["name"],
    max_size=3,
)
PODS = st.fixed_dictionaries(
    {},
    optional={
        "containers": CONTAINERS,
        "nodeSelector": st.dictionaries(NAMES, NAMES, max_size=2),
        "hostNetwork": st.booleans(),
    },
)


@given(PODS)
def test_an_empty_change_changes_nothing(pod: dict[str, Any]) -> None:
    assert strategic_merge(pod, {}, POD) == pod


@given(PODS, PODS)
def test_a_change_made_twice_is_made_once(pod: dict[str, Any], change: dict[str, Any]) -> None:
    once = strategic_merge(pod, change, POD)
    assert strategic_merge(once, change, POD) == once


@given(PODS, PODS)
def test_neither_side_is_changed(pod: dict[str, Any], change: dict[str, Any]) -> None:
    before = repr(pod), repr(change)
    strategic_merge(pod, change, POD)
    assert (repr(pod), repr(change)) == before


@given(PODS, PODS)
def test_every_container_of_either_side_is_there_once(
    pod: dict[str, Any], change: dict[str, Any]
) -> None:
    merged = strategic_merge(pod, change, POD)
    names = [each["name"] for each in merged.get("containers", ())]
    both = [*pod.get("containers", ()), *change.get("containers", ())]
    assert sorted(names) == sorted({each["name"] for each in both})


@pytest.mark.parametrize(
    ("base", "change", "merged"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="null removes"),
        pytest.param({"a": 1, "b": 2}, {"a": {"$patch": "delete"}}, {"b": 2}, id="so does a word"),
        pytest.param(
            {"containers": [{"name": "a"}, {"name": "b"}]},
            {"containers": [{"name": "a", "$patch": "delete"}]},
            {"containers": [{"name": "b"}]},
            id="an item of a keyed list is removed by the same word",
        ),
        pytest.param(
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"b": "2"}},
            {"nodeSelector": {"b": "2"}},
            id="atomic maps are replaced",
        ),
        pytest.param(
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "b"}]},
            {"tolerations": [{"key": "b"}]},
            id="atomic lists are replaced",
        ),
        pytest.param(
            {"containers": [{"name": "a", "ports": [{"containerPort": 1, "protocol": "TCP"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 1, "name": "x"}]}]},
            {
                "containers": [
                    {
                        "name": "a",
                        "ports": [{"containerPort": 1, "protocol": "TCP", "name": "x"}],
                    }
                ]
            },
            id="an absent key is its default",
        ),
    ],
)
def test_values_merge_as_their_types_say(
    base: dict[str, Any], change: dict[str, Any], merged: dict[str, Any]
) -> None:
    assert strategic_merge(base, change, POD) == merged
