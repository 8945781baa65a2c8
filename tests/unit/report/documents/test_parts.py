"""The schema of a document comes from its types and docstrings, and is closed."""

from typing import Literal

import jsonschema
import pytest
from holdfast.report.documents.parts import Count, Part, schema_of
from msgspec import UNSET, UnsetType


class InnerPart(Part):
    """Inner.

    Attributes:
        how_many: In all,
            and nothing less.
    """

    how_many: Count


class OuterDocument(InnerPart, kw_only=True):
    """Outer; a second line that is
    part of the same sentence.

    Nobody needs to read this.

    Attributes:
        inner: What is in it.
    """

    kind: Literal["x"]
    inner: InnerPart | None
    more: str | UnsetType = UNSET


SCHEMA = schema_of("Title", "What writes it.", OuterDocument)


def test_docstrings_describe_keys_and_parts() -> None:
    described = {key: each.get("description") for key, each in SCHEMA["properties"].items()}
    assert described == {
        "howMany": "In all, and nothing less.",
        "kind": None,
        "inner": "What is in it.",
        "more": None,
    }
    assert (SCHEMA["title"], SCHEMA["description"]) == ("Title", "What writes it.")
    assert SCHEMA["$defs"]["InnerPart"]["description"] == "Inner."


@pytest.mark.parametrize(
    ("document", "is_valid"),
    [
        pytest.param({"howMany": 1, "kind": "x", "inner": None}, True, id="least"),
        pytest.param(
            {"howMany": 1, "kind": "x", "inner": {"howMany": 0}, "more": ""}, True, id="all"
        ),
        pytest.param({"howMany": 1, "kind": "x"}, False, id="a key less"),
        pytest.param({"howMany": 1, "kind": "x", "inner": None, "y": 1}, False, id="a key more"),
        pytest.param({"howMany": -1, "kind": "x", "inner": None}, False, id="no count"),
        pytest.param({"howMany": 1, "kind": "x", "inner": {}}, False, id="in a part"),
        pytest.param({"howMany": 1, "kind": "y", "inner": None}, False, id="another kind"),
    ],
)
def test_it_takes_what_the_types_write_and_nothing_else(document: object, is_valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(document) is is_valid
