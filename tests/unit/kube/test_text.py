"""Text for terminals, values of fields, objects as YAML."""

import unicodedata
from typing import Any

import pytest
import yaml
from holdfast.kube.text import (
    LONGEST_DIFF_LINES,
    line_diff,
    safe_text,
    yaml_document,
    yaml_documents,
)
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain – text", "plain – text", id="plain"),
        pytest.param("\x1b[2Jgone", "\\e[2Jgone", id="clear screen"),
        pytest.param("\x1b]8;;http://x\x07link", "\\e]8;;http://x\\x07link", id="hyperlink"),
        pytest.param("a\r\nERROR forged", "a\\r\\nERROR forged", id="forged line"),
        pytest.param("abc\u202egnp.exe", "abc\\u202egnp.exe", id="bidirectional override"),
        pytest.param("zero\u200bwidth", "zero\\u200bwidth", id="zero width"),
        pytest.param("\u2028", "\\u2028", id="line separator"),
        pytest.param("\U000e0001", "\\U000e0001", id="tag character"),
    ],
)
def test_what_moves_a_terminal_is_shown_and_not_done(text: str, shown: str) -> None:
    assert safe_text(text) == shown


@given(st.text())
def test_the_result_is_one_printable_line(text: str) -> None:
    shown = safe_text(text)
    assert not [each for each in shown if unicodedata.category(each)[0] == "C" or each in "\r\n"]


def test_a_long_text_is_cut_and_marked() -> None:
    assert safe_text("x" * 500, longest=10) == "x" * 10 + "…"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("one", "two", id="short texts"),
        pytest.param(None, "a\nb\n", id="nothing before"),
        pytest.param({"a": 1}, "a\nb\n", id="no text"),
        pytest.param("a\n", "b\n", id="one line each"),
    ],
)
def test_short_values_have_no_diff(before: object, after: object) -> None:
    assert line_diff(before, after) == ()


def test_lines_that_went_and_came_stand_beside_their_neighbours() -> None:
    assert line_diff("a\nb\nc\n", "a\nB\nc\n")[1:] == (" a", "-b", "+B", " c", " ")


def test_a_line_cannot_move_the_cursor() -> None:
    assert "+\\e[2J" in line_diff("a\nb", "a\n\x1b[2J")


def test_a_long_diff_says_how_much_it_leaves_out() -> None:
    lines = line_diff("x\n" * 1000, "y\n" * 1000)
    assert len(lines) == LONGEST_DIFF_LINES + 1
    assert lines[-1].endswith("more lines")


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXT, JSON, max_size=5))
def test_what_is_written_is_read_back_equal(value: dict[str, Any]) -> None:
    assert yaml.safe_load(yaml_document(value)) == value


def test_strings_that_a_parser_could_take_for_something_else_are_quoted() -> None:
    text = yaml_document({"a": ["00000008", "NO", "1e3", "2026-01-01", ""], "on": "x"})
    assert text == (
        'a:\n  - "00000008"\n  - "NO"\n  - "1e3"\n  - "2026-01-01"\n  - ""\n"on": "x"\n'
    )


def test_nested_lists_of_mappings_are_indented_under_their_dash() -> None:
    text = yaml_document({"rules": [{"ports": [{"port": 53}], "to": []}]})
    assert text == "rules:\n  - ports:\n      - port: 53\n    to: []\n"


def test_documents_are_separated_and_sorted_by_key() -> None:
    assert yaml_documents([{"b": 1, "a": 2}, {"c": None}]) == "---\na: 2\nb: 1\n---\nc: null\n"
