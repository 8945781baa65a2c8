"""Types of text: editors, the API server and validation accept the same texts."""

import re
from typing import Annotated, Any, get_args, get_origin

import pytest
from holdfast.manifest.types import names, values
from holdfast.manifest.types.text_type import TextType
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

TYPES: dict[str, Any] = {
    name: annotation
    for name, annotation in (vars(names) | vars(values)).items()
    if get_origin(annotation) is Annotated
    and any(isinstance(each, TextType) for each in get_args(annotation))
}
ODD = [  # texts that are wrong nearly everywhere
    "",
    " ",
    "-",
    ".",
    "..",
    "/",
    "a/../b",
    "//",
    "a\n",
    "\n",
    "*",
    "é",
    "a b",
    "0",
    "@",
    "A",
    "%",
]


def text_type(name: str) -> TextType:
    [found] = [each for each in get_args(TYPES[name]) if isinstance(each, TextType)]
    return found


def near(form: TextType) -> st.SearchStrategy[str]:
    """Texts that fit the pattern, and texts that nearly do."""
    fitting = st.from_regex(form.pattern, fullmatch=True)
    cuts = st.tuples(fitting, st.integers(0, 20), st.sampled_from([*ODD, "a" * 70, "9" * 12]))
    changed = cuts.map(lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + 1 :])
    return fitting | changed | st.text(max_size=12)


def is_accepted(name: str, text: str) -> bool:
    return text_type(name).fault(text) is None


def test_every_text_of_the_manifest_is_in_the_table() -> None:
    assert len(TYPES) >= 35


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_editors_and_validation_agree(name: str, data: st.DataObject) -> None:
    form = text_type(name)
    text = data.draw(near(form))
    fits = form.matches(text)
    if is_accepted(name, text):
        assert fits
    elif form.is_exact or form.fault_in is None:
        assert not fits


@pytest.mark.parametrize("name", TYPES)
def test_the_schema_is_the_type_of_the_table(name: str) -> None:
    form = text_type(name)
    schema = TypeAdapter(TYPES[name]).json_schema()
    assert schema["pattern"] == form.pattern
    assert schema.get("maxLength") == form.max_characters
    for example in form.examples:
        assert is_accepted(name, example)
        assert Draft202012Validator(schema).is_valid(example)


@pytest.mark.parametrize("name", TYPES)
def test_a_pattern_means_the_same_to_python_javascript_and_re2(name: str) -> None:
    pattern = text_type(name).pattern
    assert pattern.startswith("^")
    assert pattern.endswith("$")
    outside_classes = re.sub(r"\[(\\.|[^\]])*\]", "x", pattern)
    assert not re.search(r"\(\?|\\[wsdbWSDBAZz]", outside_classes)


@pytest.mark.parametrize("name", TYPES)
def test_a_text_that_does_not_fit_is_explained(name: str) -> None:
    form = text_type(name)
    for text in ODD:
        found = form.fault(text)
        assert found is None or (found.context or {})["expected"], text
    assert form.words


def test_a_hidden_text_is_never_shown() -> None:
    found = text_type("SecretPath").fault("s3cret value")
    assert found is not None
    assert "s3cret" not in str(found.context)
