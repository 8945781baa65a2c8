"""Cycles are found whatever their shape, and waves respect every need."""

import pytest
from holdfast.manifest.types.ordering import cycles, waves
from hypothesis import given
from hypothesis import strategies as st

NODES = "abcdef"
GRAPHS = st.dictionaries(
    st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=3), max_size=6
)


@given(GRAPHS)
def test_there_are_waves_exactly_when_there_is_no_cycle(needs: dict[str, list[str]]) -> None:
    found = cycles(needs)
    for cycle in found:
        for node, following in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert following in needs[node]
    if found:
        with pytest.raises(ValueError, match="cycle"):
            waves(needs)
        return
    ordered = waves(needs)
    number = {node: index for index, wave in enumerate(ordered) for node in wave}
    assert sorted(node for wave in ordered for node in wave) == sorted(needs)
    for node, needed in needs.items():
        earlier = [number[each] for each in needed if each in number]
        assert number[node] == max(earlier, default=-1) + 1


def test_a_long_chain_is_no_matter_of_recursion() -> None:
    needs = {str(number): [str(number + 1)] for number in range(3000)}
    assert cycles(needs) == []
    assert cycles(needs | {"3000": ["0"]}) == [[str(number) for number in range(3001)]]
