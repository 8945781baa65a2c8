"""The same manifest with one value changed, for every value in it. Pure.

What such a change moves in the rendered objects shows which field stands behind which part of them,
for every field there is and will be: nobody keeps a table that would fall behind.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel

from holdfast.kube.paths import Path

M = TypeVar("M", bound=BaseModel)

_DIGEST: Final = re.compile(r"[0-9a-f]{64}$")
_LEADING_NUMBER: Final = re.compile(r"^[1-9]\d*\S*$")


def variants(model: M, path: Path = ()) -> Iterator[tuple[Path, M]]:
    """Copies of a model, each with one value changed, and the path of that value.

    The copies are not validated: a value may be one that no file could hold. Fields that are None
    are passed over.

    Args:
        model: Any part of a manifest; it is not changed.
        path: Where it stands in the manifest, by the names in files.
    """
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        here = (*path, field.alias or name)
        for inner, changed in _changed(value, here, _choices(field.annotation)):
            yield inner, model.model_copy(update={name: changed})


def _changed(
    value: Any,  # noqa: ANN401  (whatever a manifest holds)
    path: Path,
    choices: tuple[str, ...] = (),
) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, BaseModel):
        yield from variants(value, path)
    elif isinstance(value, tuple | list):
        make = type(value)
        for index, item in enumerate(value):
            for inner, changed in _changed(item, (*path, index), choices):
                yield inner, make([*value[:index], changed, *value[index + 1 :]])
    elif isinstance(value, Mapping):
        for key, item in value.items():
            for inner, changed in _changed(item, (*path, str(key))):
                yield inner, {**value, key: changed}
    elif value is not None:
        for changed in _other_values(value, choices):
            yield path, changed


def _other_values(value: object, choices: tuple[str, ...]) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str):
        yield from _other_texts(value, choices)


def _other_texts(text: str, choices: tuple[str, ...]) -> Iterator[str]:
    """Other texts of the same form, so that what reads the form still can."""
    if text in choices:
        yield from (each for each in choices if each != text)
    elif _DIGEST.search(text):
        yield text[:-1] + ("1" if text[-1] == "0" else "0")
    elif "://" in text:
        yield f"{text.rstrip('/')}/other"
    elif _LEADING_NUMBER.match(text):
        yield f"1{text}"  # a quantity, a duration, a version
    else:
        yield f"{text}x"


def _choices(annotation: Any) -> tuple[str, ...]:  # noqa: ANN401  (any type)
    """The texts that a Literal anywhere in a type allows."""
    if get_origin(annotation) is Literal:
        return tuple(each for each in get_args(annotation) if isinstance(each, str))
    return tuple(choice for part in get_args(annotation) for choice in _choices(part))
