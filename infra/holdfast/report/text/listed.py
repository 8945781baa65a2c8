"""Lists in the formats that every verb that lists has: text, wide, JSON, YAML and names."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from holdfast.kube.text import safe_text, yaml_document

LIST_FORMATS: Final = ("text", "wide", "json", "yaml", "name")

Text = Callable[[], str]


def listed(
    chosen: str, *, text: Text, document: Text, names: Iterable[str], wide: Text | None = None
) -> str:
    """A list in one format, ending in a line end unless it is empty.

    Args:
        chosen: One of `LIST_FORMATS`.
        text: Makes the table for people.
        document: Makes the JSON document; YAML is the same one.
        names: Each item as other verbs take it.
        wide: Makes the table with more columns; None where text has all of them.
    """
    if chosen == "json":
        return document()
    if chosen == "yaml":
        return yaml_of(document())
    if chosen == "name":
        return names_text(names)
    return (wide or text)() if chosen == "wide" else text()


def yaml_of(document: str) -> str:
    """A JSON document as YAML, as safe to show as that is."""
    data = msgspec.json.decode(document)
    if not data:
        return f"{document.strip()}\n"
    # Texts stand in double quotes, where YAML knows escapes of every character.
    return "".join(
        each if each.isprintable() or each == "\n" else _escaped(each)
        for each in yaml_document(data)
    )


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"


def names_text(names: Iterable[str]) -> str:
    """A name a line, each once."""
    return "".join(f"{safe_text(each)}\n" for each in dict.fromkeys(names) if each)
