"""Laws of the strict reader: what it reads is what was written, at the place where it stands."""

import json
import re
from typing import Any

import yaml
from holdfast.kube.text import yaml_document
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.plain_scalars import Ambiguous, read_plain
from holdfast.manifest.text.source_text import decode
from hypothesis import example, given
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(10**14), 10**14) | st.integers(-(10**9), 10**9).map(lambda n: n / 1000)
DATA = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def read(text: str, file: str) -> Any:
    content = read_documents(decode(text.encode(), file), file)
    assert [str(error) for error in content.errors] == []
    return content.documents[0].data


@given(DATA)
@example({"emoji": "\U0001f600", "line": "\u2028", "next": "\x85", "delete": "\x7f"})
@example({"backslashes": "\\\\ud83d\\ude00"})
def test_json_reads_as_what_it_was_written_from(data: object) -> None:
    assert read(json.dumps(data), "a.json") == data
    assert read(json.dumps(data, ensure_ascii=False, indent=1), "a.json") == data


@given(DATA)
def test_yaml_reads_as_what_it_was_written_from(data: object) -> None:
    assert read(yaml_document({"data": data}), "a.yaml") == {"data": data}


@given(DATA)
def test_every_value_has_a_place_in_the_file(data: object) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1)
    document = read_documents(decode(text.encode(), "a.json"), "a.json").documents[0]
    lines = decode(text.encode(), "a.json").split("\n")

    def check(value: object, origin: Origin) -> None:
        opening = json.dumps(value, ensure_ascii=False)[0]
        assert lines[origin.line - 1][origin.column - 1] == opening
        if isinstance(value, dict):
            for key, item in value.items():
                below = origin.child(key)
                assert below is not None
                assert lines[below.key_line - 1][below.key_column - 1] == '"'
                check(item, below)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                below = origin.child(index)
                assert below is not None
                check(item, below)

    check(data, document.origin)


# YAML 1.2, section 10.3.2, "Tag Resolution" of the core schema.
CORE = {
    "null": re.compile(r"null|Null|NULL|~|"),
    "bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    "int": re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
    "float": re.compile(
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"
    ),
}
TYPES = {"null": type(None), "bool": bool, "int": int, "float": float}
ODD = st.text(st.sampled_from("0123456789._:-+eExXobBTZaAfFinINyYsS~="), min_size=1, max_size=12)


@given(ODD | st.sampled_from(["yes", "No", "ON", "off", "012", "0o14", "1:30", "1_0", "2026-1-1"]))
def test_a_plain_scalar_means_the_same_in_every_version_of_yaml(text: str) -> None:
    value = read_plain(text)
    if isinstance(value, Ambiguous):
        return
    try:
        root = yaml.compose(f"- {text}")
    except yaml.YAMLError:
        return
    assert root is not None
    node = root.value[0]
    if not isinstance(node, yaml.ScalarNode) or node.value != text:
        return  # no plain scalar at all: `-`, `1:`
    assert yaml.safe_load(f"- {text}") == [value]
    core = next((kind for kind, pattern in CORE.items() if pattern.fullmatch(text)), None)
    assert type(value) is (TYPES[core] if core else str)
