"""Resources taken out of a record leave one that holds together."""

from typing import Any

from holdfast.adapters.engine.state.rebuilding import without
from hypothesis import given
from hypothesis import strategies as st

FLEET, AGENT, PART, POD, RESOURCE = (f"urn::{name}" for name in ("f", "a", "p", "d", "r"))
RECORD: list[dict[str, Any]] = [
    {"urn": FLEET},
    {"urn": AGENT, "parent": FLEET},
    {"urn": PART, "parent": AGENT},
    {"urn": POD, "parent": PART, "protect": True},
    {
        "urn": RESOURCE,
        "parent": FLEET,
        "dependencies": [AGENT, FLEET],
        "propertyDependencies": {"spec": [POD], "metadata": []},
        "deletedWith": AGENT,
    },
]


def test_what_stands_below_goes_too_and_references_to_it() -> None:
    assert without(RECORD, [AGENT]) == [
        {"urn": FLEET},
        {
            "urn": RESOURCE,
            "parent": FLEET,
            "dependencies": [FLEET],
            "propertyDependencies": {"spec": [], "metadata": []},
        },
    ]


@given(st.sets(st.sampled_from([FLEET, AGENT, PART, POD, RESOURCE, "urn::other"])))
def test_nothing_that_stays_refers_to_what_went(gone: set[str]) -> None:
    kept = without(RECORD, gone)
    names = {each["urn"] for each in kept}
    assert not names & gone
    for each in kept:
        assert each.get("parent", FLEET) in names
        assert set(each.get("dependencies", ())) <= names
        assert each.get("deletedWith", next(iter(names))) in names


def test_nothing_to_take_out_changes_nothing() -> None:
    assert without(RECORD, []) == RECORD
