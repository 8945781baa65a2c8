"""Parts that JSON documents share, and how their JSON Schema (2020-12) comes from their types.

A document is a tree of parts: what is written, what is read and what is published is one
definition; its docstrings are the descriptions. Readers pass over keys that they do not know, for a
later version may have written them; the published schema allows none.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from holdfast.drift.finding import NotChecked
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE: Final = re.compile(r"^ {8}(\w+): ", re.MULTILINE)


def one_of(*words: str) -> Meta:
    """Of a text that is one of some words; readers take others, which a later version may add."""
    return Meta(extra_json_schema={"enum": list(words)})


Count = Annotated[int, Meta(ge=0)]


class Part(Struct, rename="camel"):
    """A JSON object: its docstring describes it, the section `Attributes` its keys."""


class ObjectPart(Part):
    """Reference to an object of a cluster."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, ref: ObjectRef) -> "ObjectPart":
        """The reference as data."""
        return cls(ref.api_version, ref.kind, ref.namespace, ref.name)


class PlacePart(Part):
    """Where something is declared; lines and columns count from 1."""

    file: str
    line: Count
    column: Count

    @classmethod
    def of(cls, location: SourceLocation | None) -> "PlacePart | None":
        """The place as data; None where no file declares it."""
        return cls(location.file, location.line, location.column) if location else None


class NotCheckedPart(Part):
    """What could not be checked, and why."""

    scope: str
    reason: str

    @classmethod
    def all_of(cls, not_checked: Sequence[NotChecked]) -> "list[NotCheckedPart]":
        """Each as data."""
        return [cls(each.scope, each.reason) for each in not_checked]


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
