"""What an argument is, in the few forms that every language of Pulumi has.

Between the validating models and what is generated from them: Python's typed dictionaries
(`argument_types.py`) and the schema of the package (`package_schema.py`).
"""

import types
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel


@dataclass(frozen=True)
class Scalar:
    """Text, a whole number, a number or a truth value, by its Python type."""

    type: type


@dataclass(frozen=True)
class Anything:
    """A fragment in the words of another API."""


@dataclass(frozen=True)
class Choice:
    """One of some texts."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class ListOf:
    """A list."""

    item: "TypeExpression"


@dataclass(frozen=True)
class MapOf:
    """Names to values."""

    value: "TypeExpression"


@dataclass(frozen=True)
class Record:
    """A part with fields of its own."""

    model: type[BaseModel]

    @property
    def name(self) -> str:
        """Name of the part, the same in every language."""
        return self.model.__name__.removesuffix("Inputs")


@dataclass(frozen=True)
class Alternatives:
    """Several forms of one value."""

    forms: tuple["TypeExpression", ...]


TypeExpression = Scalar | Anything | Choice | ListOf | MapOf | Record | Alternatives


def shape_of(annotation: Any) -> TypeExpression:  # noqa: ANN401, PLR0911 - any type; one return a form
    """The shape of a type expression.

    Raises:
        TypeError: no language of Pulumi could express it.
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shape_of(parts[0])
    if origin is Literal:
        return Choice(tuple(str(part) for part in parts))
    if origin in {tuple, list}:
        return ListOf(shape_of(parts[0]))
    if origin is dict:
        return MapOf(shape_of(parts[1]))
    if origin in {Union, types.UnionType}:
        forms = tuple(dict.fromkeys(shape_of(part) for part in parts if part is not types.NoneType))
        return forms[0] if len(forms) == 1 else Alternatives(forms)
    if annotation is Any:
        return Anything()
    if annotation in {str, int, float, bool}:
        return Scalar(annotation)
    if annotation is date:
        return Scalar(str)  # as in files: "2026-03-31"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Record(annotation)
    raise TypeError(f"an argument cannot be of type {annotation!r}")


def forms_in(shape: TypeExpression) -> Iterator[TypeExpression]:
    """A shape and what it is made of; the fields of parts are left out."""
    yield shape
    match shape:
        case ListOf(inner) | MapOf(inner):
            yield from forms_in(inner)
        case Alternatives(forms):
            for form in forms:
                yield from forms_in(form)


def records_below(model: type[BaseModel]) -> Iterator[Record]:
    """The parts that a model's fields hold, deepest first, each as often as it is met."""
    for field in model.model_fields.values():
        for form in forms_in(shape_of(field.annotation)):
            if isinstance(form, Record):
                yield from records_below(form.model)
                yield form
