"""What a model allows at a field path: used to word errors and schemas, never to validate."""

import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Union

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from holdfast.kube.paths import Segment
from holdfast.manifest.types.text_type import TextType


def fields_at(model: type[BaseModel], path: Sequence[Segment]) -> tuple[str, ...]:
    """Names, as files spell them, of the fields that may stand in the mapping at a path."""
    names: list[str] = []
    for annotation in annotations_at(model, path):
        for part in alternatives(annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                names += (field.alias or name for name, field in part.model_fields.items())
    return tuple(dict.fromkeys(names))


def range_at(model: type[BaseModel], path: Sequence[Segment]) -> str:
    """The numbers that may stand at a path, such as `from 1 to 65535`; empty without bounds."""
    least = most = None
    for annotation in annotations_at(model, path):
        for constraint in constraints_in(annotation):
            if isinstance(constraint, Ge):
                least = constraint.ge
            elif isinstance(constraint, Le):
                most = constraint.le
    bounds = [
        f"from {least}" if least is not None else "",
        f"to {most}" if most is not None else "",
    ]
    return " ".join(bound for bound in bounds if bound)


def text_type_at(model: type[BaseModel], path: Sequence[Segment]) -> TextType | None:
    """The type of the text that may stand at a path; None where any text may, or no text."""
    for annotation in annotations_at(model, path):
        for constraint in constraints_in(annotation):
            if isinstance(constraint, TextType):
                return constraint
    return None


def models_below(roots: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models and every model that their fields hold, each once."""
    found: dict[type[BaseModel], None] = {}
    waiting = list(roots)
    while waiting:
        model = waiting.pop()
        if model not in found:
            found[model] = None
            for field in model.model_fields.values():
                waiting += _models_in(field.annotation)
    return list(found)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models_in(argument)


def text_types_in(annotation: Any) -> list[TextType]:  # noqa: ANN401 - any annotation
    """The types of text that a value may have, by its annotation."""
    return [each for each in constraints_in(annotation) if isinstance(each, TextType)]


def annotations_at(model: type[BaseModel], path: Sequence[Segment]) -> list[Any]:
    """What may stand at a path, each with its constraints; names as in files or in Python."""
    annotations: list[Any] = [model]
    for part in path:
        annotations = [
            below
            for annotation in annotations
            for alternative in alternatives(annotation)
            for below in annotations_below(alternative, part)
        ]
    return annotations


def annotations_below(annotation: Any, part: Segment) -> Iterator[Any]:  # noqa: ANN401 - any annotation
    """What may stand in a field or an item of a single type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            if part in {field.alias or name, name}:
                yield annotation_of(field)
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if annotation is Any:
        yield Any
    elif origin is dict and isinstance(part, str):
        yield arguments[1]
    elif origin is tuple and isinstance(part, int):
        yield arguments[0]


def annotation_of(field: FieldInfo) -> Any:  # noqa: ANN401 - any annotation
    """The type of a field, with the constraints and marks that pydantic keeps beside it."""
    if not field.metadata:
        return field.annotation
    return Annotated[field.annotation, *field.metadata]


def alternatives(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - any annotation
    """The types of a union, without the constraints around them; a single type by itself."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        yield from alternatives(typing.get_args(annotation)[0])
    elif origin in {Union, types.UnionType}:
        for part in typing.get_args(annotation):
            yield from alternatives(part)
    else:
        yield annotation


def constraints_in(annotation: Any) -> Iterator[object]:  # noqa: ANN401 - any annotation
    """Constraints and marks of an annotation and of its alternatives."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        inner, *constraints = typing.get_args(annotation)
        for constraint in constraints:
            # pydantic's Field(ge=..., le=...) keeps its bounds inside.
            yield from getattr(constraint, "metadata", None) or (constraint,)
        yield from constraints_in(inner)
    elif origin in {Union, types.UnionType}:
        for part in typing.get_args(annotation):
            yield from constraints_in(part)
