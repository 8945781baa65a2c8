"""What to write where a value of another form stands: text for a number, a list for a mapping."""

import re
from typing import Final

from pydantic import BaseModel

from holdfast.kube.paths import Path
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import shown
from holdfast.manifest.types.annotations import fields_at, range_at, text_type_at

TEXT: Final = "expected text"
MOST_KNOWN_FIELDS: Final = 15
"""Longer lists of fields help nobody to find one."""
_MOST_NAMED: Final = 8
_SECONDS_IN_WORDS: Final = re.compile("([0-9]{1,9}) ?s(ec|econds?)?")
_PLAIN_ENTRY: Final = re.compile("[A-Za-z0-9_./-]{1,60}")
_NUMBERS: Final = {
    "expected an integer": "a whole number",
    "expected a number": "a number",
    "expected true or false": "true or false",
}


def remedy_for_form(
    model: type[BaseModel], path: Path, expected: str, value: object, place: Origin
) -> tuple[str, str]:
    """What is expected instead of a value of another form, and what to write.

    Args:
        model: Model of the document.
        path: Where the value stands.
        expected: `expected text`, `expected a list` and so on.
        value: What stands there.
        place: How and where it was written.
    """
    remedy = _type_remedy(expected, value, place)
    if expected == TEXT and isinstance(value, int | float) and not isinstance(value, bool):
        return _text_of_number(model, path, place, remedy)
    if not remedy and value is not None:
        remedy = _remedy_for_kind(model, path, expected, value)
    if not remedy and expected in _NUMBERS:
        limits = range_at(model, path)
        remedy = f"write {_NUMBERS[expected]}{limits and ' ' + limits}"
        if isinstance(value, str) and (in_seconds := _SECONDS_IN_WORDS.fullmatch(value)):
            remedy = f"write {in_seconds[1]}, without a unit"
    return expected, remedy


def _text_of_number(
    model: type[BaseModel], path: Path, place: Origin, remedy: str
) -> tuple[str, str]:
    """What is expected instead of a number, and what to write; quotes help only if they do."""
    text_type = text_type_at(model, path)
    if text_type is None or not place.written:
        return TEXT, remedy
    example = text_type.examples[0] if text_type.examples else ""
    if text_type.words.startswith("duration"):
        return f"{TEXT} ({text_type.words})", f'add a unit, such as "{place.written}s"'
    if text_type.fault(place.written) is not None:
        remedy = f'write it like "{example}"' if example else ""
        return f"{TEXT} ({text_type.words})", remedy
    if text_type.words.startswith("quantity") and path[-1] != "cpu":
        return f"{TEXT} ({text_type.words})", f'add a unit, such as "{place.written}Gi"'
    return TEXT, remedy


def _remedy_for_kind(model: type[BaseModel], path: Path, expected: str, value: object) -> str:
    if expected == "expected a mapping":
        return _as_mapping(model, path, value)
    if expected == "expected a list" and isinstance(value, str):
        return f"write it as a list: [{_as_entries(value)}]"
    if expected == "expected a list" and isinstance(value, dict):
        return _as_list(model, path, value)
    if expected == TEXT and isinstance(value, list):
        only = value[0] if len(value) == 1 and isinstance(value[0], str) else ""
        return f"write {shown(only)} without brackets" if only else "write one text"
    if expected == TEXT and isinstance(value, dict):
        return 'write one text; lines of it follow a "|"'
    return ""


def _as_mapping(model: type[BaseModel], path: Path, value: object) -> str:
    known = fields_at(model, path)
    if isinstance(value, str) and "name" in known and "value" in known and "=" in value:
        return f'write {{name: {value.partition("=")[0][:60]}, value: "..."}}'
    if 0 < len(known) <= MOST_KNOWN_FIELDS:
        return f"write a mapping with {', '.join(known)}"
    return 'write a mapping, as "key: value"'


def _as_list(model: type[BaseModel], path: Path, value: dict[str, object]) -> str:
    known = fields_at(model, (*path, 0))
    if first_joined(value):
        return 'begin each entry by "- ", a hyphen and a space'
    if "name" in known and "value" in known:
        return f'write it as a list: [{{name: {next(iter(value), "...")[:60]}, value: "..."}}]'
    entry = "each entry begins with a hyphen"
    listed = f" and has some of {', '.join(known)}" if 0 < len(known) <= _MOST_NAMED else ""
    return f"write it as a list: {entry}{listed}"


def _as_entries(text: str) -> str:
    """A text as the entries of a list that it may be meant to be."""
    entries = [each.strip() for each in text.split(",")]
    is_plain = all(_PLAIN_ENTRY.fullmatch(each) for each in entries) and shown(text) == text
    return ", ".join(entries) if is_plain else "..."


def first_joined(value: object) -> str:
    """The first key of a mapping, if its hyphen was meant to begin an entry of a list."""
    first = str(next(iter(value), "")) if isinstance(value, dict) else ""
    return first if first[:1] == "-" and first[1:2].isalnum() else ""


def _type_remedy(expected: str, value: object, place: Origin) -> str:
    if value is None:
        return "give a value, or remove the field for the default"
    if expected == TEXT and (place.written or isinstance(value, int | float)):
        # How a program wrote it is not known.
        return f'quote it: "{place.written}"' if place.written else "put it in quotes"
    if isinstance(value, str) and expected != TEXT and value.strip("-").replace(".", "").isdigit():
        return "remove the quotes"
    if isinstance(value, str) and value in {"true", "false"}:
        return "remove the quotes"
    return ""
