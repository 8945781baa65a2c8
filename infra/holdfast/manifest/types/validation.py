"""Plain data to a model; pydantic's errors to errors that a person can act on."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, Segment, format_path
from holdfast.manifest.text.faults import BRANCH, FAULT, KEY
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import MAX_REMEDY_CHARACTERS, described, shown
from holdfast.manifest.types.annotations import fields_at, range_at
from holdfast.manifest.types.form_remedies import (
    MOST_KNOWN_FIELDS,
    TEXT,
    first_joined,
    remedy_for_form,
)
from holdfast.manifest.types.pasted_fields import remedy_for_pasted
from holdfast.manifest.types.renamed_fields import without_renamed

M = TypeVar("M", bound=BaseModel)
NONE_DECLARED: Final = "none is declared"
"""Remedy of a reference where nothing of its kind is declared."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one value, in words."""

    expected: str
    found: str = ""
    remedy: str = ""
    rule: str = ""


def validate(
    model: type[M],
    data: object,
    origin: Origin,
    *,
    faulty_paths: Iterable[str] = (),
    written: Callable[[Path], Path] = tuple,
    is_by_name: bool = False,
) -> M | list[ManifestError]:
    """Validate plain data as a model.

    Args:
        model: The model; its aliases are the names in files.
        data: Plain data of one document.
        origin: Where each value was written.
        faulty_paths: Field paths whose fault is reported already.
        written: Path in the model to path in the file, where they differ.
        is_by_name: Accept the names in Python, too.

    Returns:
        The model, or one error for each fault, in no particular order.
    """
    try:
        return model.model_validate(data, by_alias=True, by_name=is_by_name)
    except ValidationError as invalid:
        details = invalid.errors(include_url=False)
    known = set(faulty_paths)
    errors = [_error(model, detail, origin, written) for detail in without_renamed(model, details)]
    return [error for error in errors if error.path not in known]


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean "x"?` for a name close to a known one; else the known names."""
    names = sorted(set(known))
    if close := difflib.get_close_matches(name, names, n=1, cutoff=0.6):
        return f'did you mean "{close[0]}"?'
    return f"known: {', '.join(names)}" if names else NONE_DECLARED


def _error(
    model: type[BaseModel],
    detail: Mapping[str, Any],
    origin: Origin,
    written: Callable[[Path], Path],
) -> ManifestError:
    location = tuple(part for part in detail["loc"] if not str(part).startswith(BRANCH))
    location += detail.get("ctx", {}).get("at", ())
    at_key = location[-1:] == (KEY,)
    path = location[:-1] if at_key else location
    place = origin.nearest(path)
    shown_path = written(path)
    fault = _fault(model, path, detail, place)
    if detail["type"] == "extra_forbidden" and str(shown_path[-1]) != str(path[-1]):
        prefix = str(shown_path[-1]).removesuffix(str(path[-1]))
        fault = replace(
            fault,
            found=repr(str(shown_path[-1])[:60]),
            remedy=fault.remedy.replace('mean "', f'mean "{prefix}'),
        )
    if detail["type"] == "missing":
        fault = Fault("this field is required", remedy=f"add {shown_path[-1]}")
    # What is wrong with a whole mapping is best seen at its name.
    joined = first_joined(detail["input"]) if fault.expected == "expected a list" else ""
    place = place.nearest((joined,)) if joined else place
    on_key = (
        at_key
        or bool(joined)
        or isinstance(place.children, dict)
        or detail["type"] == "extra_forbidden"
    )
    return ManifestError(
        place.key_location if on_key else place.value_location,
        format_path(shown_path),
        expected=fault.expected,
        found=fault.found,
        remedy=_with_override(fault.remedy, place),
        rule=fault.rule,
    )


def _with_override(remedy: str, place: Origin) -> str:
    """The remedy, and where another file changed a part of the value."""
    elsewhere = place.first_from_another_file()
    if elsewhere is None:
        return remedy
    return "; ".join(part for part in (remedy, f"changed at {elsewhere.value_location}") if part)


def _fault(
    model: type[BaseModel], path: tuple[Segment, ...], detail: Mapping[str, Any], place: Origin
) -> Fault:
    kind: str = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx", {})
    value = detail["input"]
    if kind == FAULT:
        return _own_fault(detail, described(value, place))
    if kind == "extra_forbidden":
        found = repr(str(path[-1])[:60])
        if missing := context.get("missing"):
            return Fault("expected a known field", found, f'did you mean "{missing}"?')
        return Fault("expected a known field", found, _field_remedy(model, path))
    if kind in _RANGES:
        limits = range_at(model, path) or f"{_RANGES[kind]} {next(iter(context.values()))}"
        remedy = f"write a number {limits}"
        return Fault(f"expected a number {limits}", described(value, place), remedy)
    if kind in _WRONG_TYPES:
        expected = _WRONG_TYPES[kind]
        expected, remedy = remedy_for_form(model, path, expected, value, place)
        return Fault(expected, described(value, place), remedy)
    message = str(detail["msg"])
    expected = _PHRASES[kind](context) if kind in _PHRASES else message[:1].lower() + message[1:]
    choices = {each.lower(): each for each in _choices(context)} if kind == "literal_error" else {}
    close = difflib.get_close_matches(str(value).lower(), choices, n=1)
    remedy = f'did you mean "{choices[close[0]]}"?' if close else _PHRASE_REMEDIES.get(kind, "")
    return Fault(expected, described(value, place), remedy)


def _field_remedy(model: type[BaseModel], path: Path) -> str:
    """What may be meant by an unknown field: one spelled alike, or one of a part beside it."""
    name, known = str(path[-1]), fields_at(model, path[:-1])
    if pasted := remedy_for_pasted(name, known):
        return pasted
    if not difflib.get_close_matches(name, known, n=1):
        parts = [part for part in known if name in fields_at(model, (*path[:-1], part))]
        if parts:
            meant = " or ".join(f'"{part}.{name}"' for part in parts)
            return f"did you mean {meant}?"
        if len(known) > MOST_KNOWN_FIELDS and "metadata" in model.model_fields:
            kind = getattr(model, "KIND", model.__name__)
            above = ".".join(part for part in path[:-1] if isinstance(part, str))
            return f"`holdfast explain {kind}.{above}` lists the fields"
    return suggestion(name, known)


def _own_fault(detail: Mapping[str, Any], found: str) -> Fault:
    context: Mapping[str, Any] = detail.get("ctx", {})
    if not context:
        return Fault(str(detail["msg"]), found)
    if isinstance(detail["input"], dict | list):
        found = ""
    return Fault(
        context["expected"],
        shown(context["found"]) or found,
        shown(context["remedy"], MAX_REMEDY_CHARACTERS),
        context["rule"],
    )


_WRONG_TYPES = {
    "string_type": TEXT,
    "int_type": "expected an integer",
    "int_from_float": "expected an integer",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "dict_type": "expected a mapping",
    "model_type": "expected a mapping",
}
_RANGES = {
    "greater_than_equal": "from",
    "less_than_equal": "to",
    "greater_than": "above",
    "less_than": "below",
}
_PHRASE_REMEDIES = {
    "literal_error": "write one of them",
    "string_too_short": "write a text, or remove the field",
    "string_too_long": "shorten it",
    "too_short": "add an entry, or remove the field",
    "too_long": "remove entries",
    "finite_number": "write a number",
}
_PHRASES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "literal_error": lambda context: f"expected {context['expected']}",
    "string_too_short": lambda _: "expected text that is not empty",
    "string_too_long": lambda context: f"expected at most {context['max_length']} characters",
    "too_short": lambda context: f"expected at least {context['min_length']} entries",
    "too_long": lambda context: f"expected at most {context['max_length']} entries",
    "finite_number": lambda _: "expected a finite number",
}


def _choices(context: Mapping[str, Any]) -> list[str]:
    return str(context.get("expected", "")).replace(" or ", ", ").replace("'", "").split(", ")
