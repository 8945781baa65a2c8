"""The reference of manifests, read from the models: every field with its type, default and use."""

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from holdfast.manifest.agent import model
from holdfast.manifest.agent.agent import AGENT_KIND, AgentSpec
from holdfast.manifest.agent.agent_types import types_of
from holdfast.manifest.agent.exposure import Caller
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.json_schema import field_descriptions
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import NAMESPACE
from holdfast.manifest.types import manifest_model, values
from holdfast.manifest.types.annotations import alternatives
from holdfast.manifest.types.references import MARKS
from holdfast.manifest.types.text_type import TextType

SPEC = "spec"
STACK_FILE: Final = "Stack"
"""The kind by which settings of stack files are named."""


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """One field of one kind.

    Attributes:
        kind: `Agent`, `ModelConfig` and so on.
        path: Field path; `[]` stands for any item of a list, `.<key>` for any key of a map.
        words: What may stand there, in words.
        default: What holds when it is absent; empty when nothing does, `required` when it must
            stand.
        description: The model's own words.
        types: Types of agent on which it has an effect; empty for other kinds than Agent.
        owner: The model that declares it, and its name there.
    """

    kind: str
    path: str
    words: str
    default: str
    description: str
    types: tuple[str, ...]
    owner: tuple[type[BaseModel], str]


def fields_of(kind: str) -> Iterator[FieldEntry]:
    """Metadata and spec of a kind with every field in them, outer ones first."""
    whole = KINDS[kind]
    whole.model_rebuild()  # before pydantic 2.12, fields have no aliases until then
    for name in ("metadata", SPEC):
        part = whole.model_fields[name].annotation
        assert isinstance(part, type)  # noqa: S101 - every kind has both
        words = field_descriptions(whole)[name]
        yield FieldEntry(kind, name, "mapping", "required", words, (), (whole, name))
        yield from _fields(kind, part, name)


def fields_of_stack_file() -> Iterator[FieldEntry]:
    """Every setting of a stack file, outer ones first; paths begin with `holdfast:`."""
    for entry in _fields(STACK_FILE, Environment, ""):
        yield replace(entry, path=f"{NAMESPACE}{entry.path.removeprefix('.')}")


@cache
def entries_of(kind: str) -> tuple[FieldEntry, ...]:
    """All fields of a kind, or those of a stack file."""
    return tuple(fields_of(kind) if kind in KINDS else fields_of_stack_file())


def forms_of(entry: FieldEntry) -> Iterator[FieldEntry]:
    """Fields of the mappings that may stand where a text may, too, such as {namespace, name}."""
    model, name = entry.owner
    info = model.model_fields.get(name)
    if info is None or _model_in(_whole(info))[0] is not None:
        return
    for part, suffix in _mappings_in(_whole(info)):
        yield from _fields(entry.kind, part, entry.path + suffix)


def _mappings_in(annotation: Any) -> Iterator[tuple[type[BaseModel], str]]:  # noqa: ANN401 - any annotation
    for each in alternatives(annotation):
        arguments = typing.get_args(each)
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each, ""
        elif typing.get_origin(each) is tuple:
            yield from ((part, f"[]{suffix}") for part, suffix in _mappings_in(arguments[0]))
        elif typing.get_origin(each) is dict:
            yield from ((part, f".<key>{suffix}") for part, suffix in _mappings_in(arguments[1]))


def field_at(kind: str, path: str) -> FieldEntry | None:
    """The field of a kind at a path; indexes and quoted keys of a concrete path are allowed."""
    above, _, name = path.rpartition(".")
    found = _entry_at(kind, path)
    if found is not None or not above:
        return found
    holder = _entry_at(kind, above)
    forms = forms_of(holder) if holder else ()
    return next((each for each in forms if each.path.rpartition(".")[2] == name), None)


def _entry_at(kind: str, path: str) -> FieldEntry | None:
    wanted = _parts(path)
    for entry in entries_of(kind):
        parts = _parts(entry.path)
        if len(parts) == len(wanted) and all(
            known in {part, "<key>"} for known, part in zip(parts, wanted, strict=True)
        ):
            return entry
    return None


def _parts(path: str) -> list[str]:
    return [part.partition("[")[0] for part in path.split(".") if part]


def _fields(kind: str, part: type[BaseModel], prefix: str) -> Iterator[FieldEntry]:
    descriptions = field_descriptions(part)
    for name, info in part.model_fields.items():
        annotation = _whole(info)
        path = f"{prefix}.{info.alias or name}"
        below, suffix = _model_in(annotation)
        in_spec = path.removeprefix(f"{SPEC}.").replace("[]", "").replace(".<key>", "")
        is_of_agent = kind == AGENT_KIND and path.startswith(f"{SPEC}.")
        yield FieldEntry(
            kind,
            path,
            type_words(annotation),
            _default_words(info),
            descriptions.get(name, ""),
            tuple(sorted(types_of(AgentSpec, in_spec.split(".")))) if is_of_agent else (),
            (part, name),
        )
        if below is not None:
            yield from _fields(kind, below, path + suffix)


def _whole(info: FieldInfo) -> Any:  # noqa: ANN401 - any annotation
    """A field's annotation with the constraints that pydantic keeps beside it."""
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, str]:  # noqa: ANN401 - see above
    """The one model that lies behind a field, and what its path gets: nothing, `[]` or `.<key>`."""
    found = [each for each in alternatives(annotation) if each is not type(None)]
    if len(found) != 1:
        return None, ""
    [only] = found
    if isinstance(only, type) and issubclass(only, BaseModel):
        return only, ""
    arguments = typing.get_args(only)
    if typing.get_origin(only) is tuple:
        return _model_in(arguments[0])[0], "[]"
    if typing.get_origin(only) is dict:
        return _model_in(arguments[1])[0], ".<key>"
    return None, ""


_NAMED: tuple[tuple[Any, str], ...] = (
    (model.Reference, "name, or {namespace, name}"),
    (Caller, "agent's name, {namespace, name}, {namespace}, or gateway"),
    (values.IntOrPercent, "number or percent"),
    (values.Port, "port, 1–65535"),
    (manifest_model.JsonObject, "mapping, in Kubernetes' own words"),
)


def type_words(annotation: Any) -> str:  # noqa: ANN401, PLR0911 - any annotation; one return a form
    """What may stand in a field, in words."""
    if typing.get_origin(annotation) is Annotated:
        # What a field refers to says nothing about its type.
        plain = [each for each in annotation.__metadata__ if not isinstance(each, MARKS)]
        inner = annotation.__origin__
        annotation = Annotated[inner, *plain] if plain else inner
    for known, words in _NAMED:
        if annotation == known:
            return words
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        for each in arguments[1:]:
            if isinstance(each, TextType):
                return each.words
        return _constrained(arguments[0], arguments[1:])
    if origin is Literal:
        return " or ".join("true" if each is True else str(each) for each in arguments)
    if origin is tuple:
        return f"list of {type_words(arguments[0])}"
    if origin is dict:
        return f"mapping of {type_words(arguments[0])} to {type_words(arguments[1])}"
    choices = [each for each in alternatives(annotation) if each is not type(None)]
    if origin is not None and choices:
        parts = [each for each in arguments if each is not type(None)]
        return " or ".join(dict.fromkeys(type_words(each) for each in parts))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    return {
        date: "date such as 2026-01-31",
        str: "text",
        int: "integer",
        float: "number",
        bool: "true or false",
    }.get(annotation, "any value")


def _constrained(inner: Any, constraints: Sequence[Any]) -> str:  # noqa: ANN401 - any annotation
    words = type_words(inner)
    bounds: dict[type, Any] = {}
    for constraint in constraints:
        for each in getattr(constraint, "metadata", None) or (constraint,):
            bounds[type(each)] = each
        if most := getattr(constraint, "max_length", None):
            bounds[MaxLen] = MaxLen(most)
    if Ge in bounds and Le in bounds:
        return f"{words}, {bounds[Ge].ge}–{bounds[Le].le}"
    if Ge in bounds:
        return f"{words}, at least {bounds[Ge].ge}"
    if MaxLen in bounds and bounds[MaxLen].max_length != manifest_model.MOST_ITEMS:
        return f"{words}, at most {bounds[MaxLen].max_length}"
    if MinLen in bounds:
        return f"{words}, at least {bounds[MinLen].min_length}"
    return words


def _default_words(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    default = info.default
    if default in (None, PydanticUndefined, ()) or isinstance(default, BaseModel):
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return f"[{', '.join(str(each) for each in default)}]"
    return str(default)
