"""What a field refers to, said at the field; one walk finds every such value of a manifest.

References, the graph, egress and uses of secrets all read these marks, so that a field is known to
each of them or to none.
"""

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

Relation = Literal[
    "calls", "model", "fallback", "embedding", "tools", "peer", "dependsOn", "lets in", "member"
]
"""`calls`: an agent as a tool; `tools`: a tool server; `lets in`: from caller to callee."""


@dataclass(frozen=True, slots=True)
class RefersTo:
    """Mark of a field that names a declared object.

    Attributes:
        kind: Kind of the object; empty where the reference itself says it.
        relation: What the object is to who names it.
    """

    kind: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class EntryOf:
    """Mark of a field that names an entry of `secrets[]`.

    Attributes:
        form: What the entry must give: one `value`, `files`, or anything.
    """

    form: Literal["value", "files", "any"]


@dataclass(frozen=True, slots=True)
class Reaches:
    """Mark of a field that holds an address which the agent asks, so that its egress is opened.

    Attributes:
        relation: What is there, where the graph shows the address; empty where it does not.
    """

    relation: Relation | Literal[""] = ""


Path = tuple[str | int, ...]
"""Where a value stands, in the words of the file."""

MARKS = (RefersTo, EntryOf, Reaches)
M = TypeVar("M")
P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Marked(Generic[M]):
    """One value of a marked field.

    Attributes:
        mark: What the field says.
        value: A name, reference or address; never None.
        path: Where it stands.
        part: The part of the manifest that has the field.
    """

    mark: M
    value: Any
    path: Path
    part: BaseModel


def marked(part: BaseModel, mark: type[M], path: Path = ("spec",)) -> Iterator[Marked[M]]:
    """Every value in a part whose field has a mark, in the order of the fields.

    Args:
        part: The part, such as the spec of an agent.
        mark: Class of the mark.
        path: Where the part stands.
    """
    for value, here, holder, marks in _walk(part, path):
        for each in marks:
            if isinstance(each, mark):
                yield Marked(each, value, here, holder)


def parts_of(part: BaseModel, kind: type[P], path: Path = ("spec",)) -> Iterator[tuple[P, Path]]:
    """Every part of one class that holds a marked field, with its place."""
    for value, here, _, _ in _walk(part, path):
        if isinstance(value, kind):
            yield value, here


def _walk(part: BaseModel, path: Path) -> Iterator[tuple[Any, Path, BaseModel, tuple[object, ...]]]:
    for name, alias, marks in marked_fields(type(part)):
        for value, here in _leaves(getattr(part, name), (*path, alias)):
            yield value, here, part, marks
            if isinstance(value, BaseModel):
                yield from _walk(value, here)


def _leaves(value: Any, path: Path) -> Iterator[tuple[Any, Path]]:  # noqa: ANN401 - any field
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif value is not None:
        yield value, path


@cache
def marked_fields(model: type[BaseModel]) -> tuple[tuple[str, str, tuple[object, ...]], ...]:
    """Fields of a model with a mark on them or below: name, name in files, marks."""
    found = []
    for name, info in model.model_fields.items():
        marks, models = _read(info.annotation)
        marks += tuple(each for each in info.metadata if isinstance(each, MARKS))
        if marks or any(marked_fields(each) for each in models):
            found.append((name, info.alias or to_camel(name), marks))
    return tuple(found)


def _read(annotation: Any) -> tuple[tuple[object, ...], list[type[BaseModel]]]:  # noqa: ANN401
    """Marks in an annotation, and the models that it names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return (), [annotation]
    marks: list[object] = [
        each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, MARKS)
    ]
    models: list[type[BaseModel]] = []
    for argument in typing.get_args(annotation):
        inner, below = _read(argument)
        marks += inner
        models += below
    return tuple(marks), models
