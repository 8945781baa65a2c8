from typing import Any

import yaml
from holdfast.kube.yaml_text import yaml_document, yaml_documents
from hypothesis import given
from hypothesis import strategies as st

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
