"""What a field refers to, said at the field; one walk finds every such value of a manifest.

References, the graph, egress and uses of secrets all read these marks, so that a field is known to
each of them or to none.
"""

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

Relation = Literal[
    "calls", "model", "fallback", "embedding", "tools", "egress", "dependsOn", "lets in", "member"
]
"""`calls`: an agent as a tool; `egress`: another agent that it reaches; `tools`: a tool server;
`lets in`: from caller to callee."""


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


Sought = type[Any] | tuple[type[Any], ...]
"""Classes of marks, or a class of parts, that a walk looks for."""

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
    for value, below, holder, marks in _marks_below(part):
        for each in marks:
            if isinstance(each, mark):
                yield Marked(each, value, (*path, *below), holder)


def _marks_below(part: BaseModel) -> "list[Found]":
    """All marked values of a part, found once: a dozen checks and the plan ask for one spec.

    A part never changes, so that what was found stays true; its copies are searched again.
    """
    found: list[Found] | None = getattr(part, "_marked_values", None)
    if found is None:
        found = _found(part, (), MARKS)
        # Past pydantic: the slot is no field, is not compared, not copied and not written.
        object.__setattr__(part, "_marked_values", found)
    return found


def parts_of(part: BaseModel, kind: type[P], path: Path = ("spec",)) -> Iterator[tuple[P, Path]]:
    """Every part of one class below another part, with its place."""
    for value, here, _, _ in _found(part, path, kind):
        if isinstance(value, kind):
            yield value, here


Found = tuple[Any, Path, BaseModel, tuple[Any, ...]]
"""A value, its place, the part that has its field, and the marks of the field."""


def _found(part: BaseModel, path: Path, sought: Sought) -> list[Found]:
    found: list[Found] = []
    _walk(part, path, sought, found)
    return found


def _walk(part: BaseModel, path: Path, sought: Sought, found: list[Found]) -> None:
    """Append what is sought of all fields that `fields_leading_to` names."""
    steps = _steps_to(type(part), sought)
    if not steps:
        return
    written = part.model_fields_set
    for name, alias, marks, is_by_default in steps:
        if not is_by_default and name not in written:
            continue
        value = getattr(part, name)
        if value is None:
            continue
        here = (*path, alias)
        for item, place in _leaves(value, here) if isinstance(value, tuple) else ((value, here),):
            is_part = isinstance(item, BaseModel)
            if marks or (is_part and isinstance(item, sought)):
                found.append((item, place, part, marks))
            if is_part:
                _walk(item, place, sought, found)


def _leaves(value: Any, path: Path) -> Iterator[tuple[Any, Path]]:  # noqa: ANN401 - any field
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif value is not None:
        yield value, path


LeadingFields = tuple[tuple[str, str, tuple[Any, ...]], ...]
"""Name, name in files, and marks of each field."""

_LEADING_FIELDS: Final[dict[tuple[type[BaseModel], Sought], LeadingFields]] = {}


def fields_leading_to(model: type[BaseModel], sought: Sought) -> LeadingFields:
    """Fields of a model with what is sought on them or below.

    A walk for one class of marks enters few parts of a manifest; to enter all of them took half
    of the time in which a fleet is validated and rendered.

    Args:
        model: Class of the part.
        sought: Classes of marks, or a class of parts.
    """
    key = (model, sought)
    if key not in _LEADING_FIELDS:
        _LEADING_FIELDS[key] = tuple(_read_leading(model, sought))
    return _LEADING_FIELDS[key]


Steps = tuple[tuple[str, str, tuple[Any, ...], bool], ...]
"""The same, each with whether the default of the field holds what is sought."""

_STEPS: Final[dict[tuple[type[BaseModel], Sought], Steps]] = {}


def _steps_to(model: type[BaseModel], sought: Sought) -> Steps:
    """The fields that a walk enters: where they are written, or hold what is sought by default.

    Few defaults do, and a part has few of its fields.
    """
    key = (model, sought)
    if key not in _STEPS:
        _STEPS[key] = tuple(
            (name, alias, marks, _is_by_default(model.model_fields[name], marks, sought))
            for name, alias, marks in fields_leading_to(model, sought)
        )
    return _STEPS[key]


def _is_by_default(info: FieldInfo, marks: tuple[Any, ...], sought: Sought) -> bool:
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    for item, path in _leaves(default, ()):
        if marks or isinstance(item, sought):
            return True
        if isinstance(item, BaseModel) and _found(item, path, sought):
            return True
    return False


def _read_leading(
    model: type[BaseModel], sought: Sought
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    for name, info in model.model_fields.items():
        on_type, models = _read(info.annotation)
        marks = tuple(each for each in (*on_type, *info.metadata) if isinstance(each, sought))
        if (
            marks
            or any(issubclass(each, sought) for each in models)
            or any(fields_leading_to(each, sought) for each in models)
        ):
            yield name, info.alias or to_camel(name), marks


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
