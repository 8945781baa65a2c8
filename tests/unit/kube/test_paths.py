import pytest
from holdfast.kube.paths import (
    ABSENT,
    ItemKey,
    Path,
    format_path,
    json_pointer,
    parse_path,
    value_at,
    with_value,
)
from hypothesis import given
from hypothesis import strategies as st

AGENT = ItemKey((("name", "agent"),))
PORT = ItemKey((("containerPort", 80), ("protocol", "TCP")))
POD = {
    "spec": {
        "containers": [
            {"name": "proxy", "image": "p:1"},
            {"name": "agent", "image": "a:1", "ports": [{"containerPort": 80}]},
        ]
    }
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param((), "", id="whole object"),
        pytest.param(("spec", "replicas"), "spec.replicas", id="fields"),
        pytest.param(
            ("spec", "containers", AGENT, "image"), "spec.containers[name=agent].image", id="key"
        ),
        pytest.param(("ports", PORT), "ports[containerPort=80,protocol=TCP]", id="composite key"),
        pytest.param(("rules", 1, "verbs"), "rules[1].verbs", id="index"),
        pytest.param(("metadata", "labels", "a.b/c"), 'metadata.labels["a.b/c"]', id="dotted name"),
        pytest.param(("data", 'say "hi"\\'), 'data["say \\"hi\\"\\\\"]', id="quotes in a name"),
    ],
)
def test_a_path_reads_and_writes_as_text(path: Path, text: str) -> None:
    assert format_path(path) == text
    assert parse_path(text) == path


@given(st.lists(st.one_of(st.text(min_size=1), st.integers(0, 9)), max_size=5))
def test_any_path_survives_being_text(segments: list[str | int]) -> None:
    assert parse_path(format_path(tuple(segments))) == tuple(segments)


def test_an_open_bracket_is_refused() -> None:
    with pytest.raises(ValueError, match="not closed"):
        parse_path("spec.containers[name=agent")


def test_items_are_found_by_key_even_where_a_default_is_left_out() -> None:
    assert value_at(POD, ("spec", "containers", AGENT, "image")) == "a:1"
    assert value_at(POD, ("spec", "containers", AGENT, "ports", PORT)) == {"containerPort": 80}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(("spec", "volumes"), id="field"),
        pytest.param(("spec", "containers", 7), id="index"),
        pytest.param(("spec", "containers", ItemKey((("name", "no"),))), id="key"),
        pytest.param(("spec", "containers", "image"), id="field of a list"),
    ],
)
def test_what_is_not_there_is_absent_not_null(path: Path) -> None:
    assert value_at(POD, path) is ABSENT
    assert json_pointer(POD, path) is None


def test_a_json_pointer_counts_items_and_escapes_names() -> None:
    assert json_pointer(POD, ("spec", "containers", AGENT, "image")) == "/spec/containers/1/image"
    assert json_pointer({"labels": {"a/b~c": "1"}}, ("labels", "a/b~c")) == "/labels/a~1b~0c"


def test_a_value_is_set_in_a_copy() -> None:
    changed = with_value(POD, ("spec", "containers", AGENT, "image"), "a:2")
    assert value_at(changed, ("spec", "containers", AGENT, "image")) == "a:2"
    assert value_at(POD, ("spec", "containers", AGENT, "image")) == "a:1"


def test_absent_removes_and_an_unknown_item_is_appended() -> None:
    path: Path = ("spec", "containers", ItemKey((("name", "new"),)))
    grown = with_value(POD, path, {"name": "new"})
    assert [item["name"] for item in grown["spec"]["containers"]] == ["proxy", "agent", "new"]
    assert with_value(grown, path, ABSENT) == POD
