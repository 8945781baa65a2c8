"""Parts that JSON documents share, and how their JSON Schema (2020-12) comes from their types.

A document is a tree of parts: what is written, what is read and what is published is one
definition; its docstrings are the descriptions. Readers pass over keys that they do not know, for a
later version may have written them; the published schema allows none.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Self

import msgspec
from msgspec import Meta, Struct

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE: Final = re.compile(r"^ {8}(\w+): ", re.MULTILINE)


def one_of(*words: str) -> Meta:
    """Of a text that is one of some words; readers take others, which a later version may add."""
    return Meta(extra_json_schema={"enum": list(words)})


Count = Annotated[int, Meta(ge=0)]


class Part(Struct, rename="camel"):
    """A JSON object: its docstring describes it, the section `Attributes` its keys."""

    @classmethod
    def copy_of(cls, source: object) -> Self:
        """The part of which an object has all attributes, those of its own parts included."""
        return msgspec.convert(source, cls, from_attributes=True)


class ObjectPart(Part):
    """Reference to an object of a cluster."""

    api_version: str
    kind: str
    namespace: str
    name: str


class PlacePart(Part):
    """Where something is declared; lines and columns count from 1."""

    file: str
    line: Count
    column: Count


class NotCheckedPart(Part):
    """What could not be checked, and why."""

    scope: str
    reason: str


def schema_of(title: str, description: str, *types: type[Part]) -> dict[str, Any]:
    """The JSON Schema of a document: these keys and no others.

    Args:
        title: Of the schema.
        description: What writes the document.
        types: What it may be.
    """
    references, schemas = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    parts = {each.__name__: each for each in _descendants(Part)}
    for name, schema in schemas.items():
        if "description" in schema:
            schema["description"] = _summary(schema["description"])
        if name in parts:
            schema["additionalProperties"] = False
            for each in schema["properties"].values():
                each.pop("default", None)
            _describe(schema["properties"], parts[name])
    whole = schemas.pop(types[0].__name__) if len(types) == 1 else {"oneOf": list(references)}
    about = {"$schema": _DIALECT, "title": title, "description": description}
    return {**about, **{key: whole[key] for key in whole if key not in about}, "$defs": schemas}


def _descendants(part: type[Part]) -> Iterator[type[Part]]:
    for each in part.__subclasses__():
        yield each
        yield from _descendants(each)


def _describe(properties: dict[str, Any], part: type[Part]) -> None:
    """Describe the keys of an object in the words of its docstring."""
    names = dict(zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True))
    for base in part.__mro__:
        _, *texts = _ATTRIBUTE.split(base.__doc__ or "")
        for name, text in zip(texts[::2], texts[1::2], strict=True):
            if name in names:
                properties[names[name]].setdefault("description", _summary(text))


def _summary(text: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(text.partition("\n\n")[0].split())
