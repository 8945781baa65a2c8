"""Plain data to a model; pydantic's errors to errors that a person can act on."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, Segment, format_path
from holdfast.manifest.text.faults import BRANCH, FAULT, KEY
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import MAX_REMEDY_CHARACTERS, described, shown
from holdfast.manifest.types.annotations import fields_at, range_at, text_type_at
from holdfast.manifest.types.pasted_fields import remedy_for_pasted

M = TypeVar("M", bound=BaseModel)
NONE_DECLARED: Final = "none is declared"
"""Remedy of a reference where nothing of its kind is declared."""
_MOST_KNOWN_FIELDS: Final = 15
"""Longer lists of fields help nobody to find one."""


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
    errors = [_error(model, detail, origin, written) for detail in details]
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
    if detail["type"] == "missing":
        fault = Fault("this field is required", remedy=f"add {shown_path[-1]}")
    # What is wrong with a whole mapping is best seen at its name.
    on_key = at_key or isinstance(place.children, dict) or detail["type"] == "extra_forbidden"
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
        return Fault("expected a known field", found, _field_remedy(model, path))
    if kind in _RANGES:
        limits = range_at(model, path) or f"{_RANGES[kind]} {next(iter(context.values()))}"
        return Fault(f"expected a number {limits}", described(value, place))
    if kind in _WRONG_TYPES:
        expected = _WRONG_TYPES[kind]
        remedy = _type_remedy(expected, value, place)
        if expected == _TEXT and isinstance(value, int | float) and not isinstance(value, bool):
            expected, remedy = _text_of_number(model, path, place, remedy)
        elif not remedy and value is not None:
            remedy = _form_remedy(model, path, expected, value)
        return Fault(expected, described(value, place), remedy)
    message = str(detail["msg"])
    expected = _PHRASES[kind](context) if kind in _PHRASES else message[:1].lower() + message[1:]
    close = difflib.get_close_matches(str(value).lower(), _choices(context), n=1)
    remedy = f'did you mean "{close[0]}"?' if close else ""
    return Fault(expected, described(value, place), remedy)


def _field_remedy(model: type[BaseModel], path: Path) -> str:
    """What may be meant by an unknown field: one spelled alike, or one of a part beside it."""
    name, known = str(path[-1]), fields_at(model, path[:-1])
    if pasted := remedy_for_pasted(name, known):
        return pasted
    if not difflib.get_close_matches(name, known, n=1):
        for part in known:
            if name in fields_at(model, (*path[:-1], part)):
                return f'did you mean "{part}.{name}"?'
        if len(known) > _MOST_KNOWN_FIELDS and "metadata" in model.model_fields:
            kind = getattr(model, "KIND", model.__name__)
            above = ".".join(part for part in path[:-1] if isinstance(part, str))
            return f"`holdfast explain {kind}.{above}` lists the fields"
    return suggestion(name, known)


def _text_of_number(
    model: type[BaseModel], path: Path, place: Origin, remedy: str
) -> tuple[str, str]:
    """What is expected instead of a number, and what to write; quotes help only if they do."""
    text_type = text_type_at(model, path)
    if text_type is None or not place.written:
        return _TEXT, remedy
    example = text_type.examples[0] if text_type.examples else ""
    if text_type.fault(place.written) is not None:
        remedy = f'write it like "{example}"' if example else ""
        return f"{_TEXT} ({text_type.words})", remedy
    if text_type.words.startswith("quantity") and path[-1] != "cpu":
        return f"{_TEXT} ({text_type.words})", f'add a unit, such as "{place.written}Gi"'
    return _TEXT, remedy


def _form_remedy(model: type[BaseModel], path: Path, expected: str, value: object) -> str:
    """How to write what was written as another kind of value: with the fields that it has."""
    if expected == "expected a mapping":
        known = fields_at(model, path)
        if isinstance(value, str) and "name" in known and "value" in known and "=" in value:
            return f'write {{name: {value.partition("=")[0][:60]}, value: "..."}}'
        if 0 < len(known) <= _MOST_KNOWN_FIELDS:
            return f"write a mapping with {', '.join(known)}"
    if expected == "expected a list" and isinstance(value, dict):
        known = fields_at(model, (*path, 0))
        if "name" in known and "value" in known:
            return 'write it as a list: [{name: ..., value: "..."}]'
        return "write it as a list: each entry begins with a hyphen"
    return ""


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


_TEXT = "expected text"
_WRONG_TYPES = {
    "string_type": _TEXT,
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


def _type_remedy(expected: str, value: object, place: Origin) -> str:
    if value is None:
        return "give a value, or remove the field for the default"
    if expected == _TEXT and (place.written or isinstance(value, int | float)):
        # How a program wrote it is not known.
        return f'quote it: "{place.written}"' if place.written else "put it in quotes"
    if isinstance(value, str) and expected != _TEXT and value.strip("-").replace(".", "").isdigit():
        return "remove the quotes"
    if isinstance(value, str) and value in {"true", "false"}:
        return "remove the quotes"
    if expected == "expected a list" and isinstance(value, str):
        return "write it as a list: [...]"
    return ""
