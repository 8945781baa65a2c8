"""What an argument is, in the few forms that every language of Pulumi has.

Between the validating models and what is generated from them: Python's typed dictionaries
(`argument_types.py`) and the schema of the package (`package_schema.py`).
"""

import types
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from holdfast.components.stand_ins import Refused, is_reference, maker_of
from holdfast.manifest.types.annotations import annotation_of


@dataclass(frozen=True)
class Scalar:
    """Text, a whole number, a number or a truth value, by its Python type.

    Attributes:
        is_plain: Whether its value must be known when a component is constructed: no output.
    """

    type: type
    is_plain: bool = True


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


Identifying = frozenset[tuple[str, str]]
"""Model and field of what tells the items of a list apart."""
TypeExpression = Scalar | Anything | Choice | ListOf | MapOf | Record | Alternatives


def shape_of(annotation: Any) -> TypeExpression:  # noqa: ANN401, PLR0911 - any type; one return a form
    """The shape of a type expression.

    Raises:
        TypeError: no language of Pulumi could express it.
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        if parts[0] is str:
            return Scalar(str, is_plain=isinstance(maker_of(annotation), Refused))
        shape = shape_of(parts[0])
        # A mark on a whole union holds for the texts in it.
        return without_outputs(shape) if is_reference(annotation) else shape
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
    if annotation is str:
        return Scalar(str, is_plain=False)
    if annotation in {int, float, bool}:
        return Scalar(annotation)
    if annotation is date:
        return Scalar(str)  # as in files: "2026-03-31"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Record(annotation)
    raise TypeError(f"an argument cannot be of type {annotation!r}")


def without_outputs(shape: TypeExpression) -> TypeExpression:
    """The same where every text must be known: it decides what is rendered."""
    match shape:
        case Scalar(kind):
            return Scalar(kind)
        case ListOf(item):
            return ListOf(without_outputs(item))
        case MapOf(value):
            return MapOf(without_outputs(value))
        case Alternatives(forms):
            return Alternatives(tuple(without_outputs(form) for form in forms))
        case _:
            return shape


@lru_cache(maxsize=1024)
def fields_of(model: type[BaseModel], identifying: Identifying) -> dict[str, TypeExpression]:
    """Each field's shape; what tells the items of a list apart takes no output."""
    shapes = {name: shape_of(annotation_of(info)) for name, info in model.model_fields.items()}
    return {
        name: without_outputs(shape) if (model.__name__, name) in identifying else shape
        for name, shape in shapes.items()
    }


@lru_cache(maxsize=4096)
def is_plain(shape: TypeExpression, identifying: Identifying) -> bool:
    """Whether no output may stand in a value of this shape, however deep."""
    match shape:
        case Scalar():
            return shape.is_plain
        case Choice():
            return True
        case Anything():
            return False
        case ListOf(inner) | MapOf(inner):
            return is_plain(inner, identifying)
        case Record(model):
            fields = fields_of(model, identifying)
            return all(is_plain(each, identifying) for each in fields.values())
        case Alternatives(forms):
            return all(is_plain(each, identifying) for each in forms)


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
