"""What may hold between the fields of a part: data, from which every check of it is made.

One condition gives the check in Python, the JSON Schema of editors and the CEL of the API server.
Fields are named as in Python, with dots between a part and its field; what a manifest does not say
has its default, in all three.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from holdfast.manifest.types.annotations import alternatives

Schema = dict[str, Any]
Words = str | int | bool
_RESERVED = frozenset({"as", "const", "else", "for", "if", "import", "in", "namespace", "package"})


class FieldCondition:
    """Something that is true of a part, or not."""

    __slots__ = ()

    def __and__(self, other: "FieldCondition") -> "FieldCondition":
        return Every((self, other))

    def __or__(self, other: "FieldCondition") -> "FieldCondition":
        return Some((self, other))

    def __invert__(self) -> "FieldCondition":
        return self.part if isinstance(self, Not) else Not(self)

    def needs(self, other: "FieldCondition") -> "FieldCondition":
        """Where this holds, the other does, too."""
        return ~self | other

    def equals(self, other: "FieldCondition") -> "FieldCondition":
        """Both hold, or neither."""
        return self.needs(other) & other.needs(self)

    def excludes(self, other: "FieldCondition") -> "FieldCondition":
        """Where this holds, the other does not."""
        return ~self | ~other


@dataclass(frozen=True, slots=True)
class Given(FieldCondition):
    """A field has a value: not nothing, and no empty list or mapping."""

    field: str


@dataclass(frozen=True, slots=True)
class Written(FieldCondition):
    """A field stands in the manifest, even with the value that it has by default."""

    field: str


@dataclass(frozen=True, slots=True)
class Is(FieldCondition):
    """A field has one of some values."""

    field: str
    values: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Compared(FieldCondition):
    """One number stands to another as said, wherever both are there."""

    left: str
    operator: Literal["<", "<="]
    right: str


@dataclass(frozen=True, slots=True)
class Every(FieldCondition):
    """All parts hold."""

    parts: tuple[FieldCondition, ...]


@dataclass(frozen=True, slots=True)
class Some(FieldCondition):
    """At least one part holds."""

    parts: tuple[FieldCondition, ...]


@dataclass(frozen=True, slots=True)
class Not(FieldCondition):
    """The part does not hold."""

    part: FieldCondition


Leaf = Given | Written | Is


def is_(field: str, *values: Words) -> Is:
    """A field has one of these values."""
    return Is(field, values)


def any_given(*fields: str) -> Some:
    """At least one of the fields has a value."""
    return Some(tuple(Given(each) for each in fields))


def holds(condition: FieldCondition, part: BaseModel) -> bool:  # noqa: PLR0911 - one return a form
    """Whether a condition is true of a validated part."""
    match condition:
        case Every(parts):
            return all(holds(each, part) for each in parts)
        case Some(parts):
            return any(holds(each, part) for each in parts)
        case Not(inner):
            return not holds(inner, part)
        case Compared(left, operator, right):
            first, second = value_at(part, left), value_at(part, right)
            if first is None or second is None:
                return True
            return bool(first < second if operator == "<" else first <= second)
        case Written(field):
            return _is_written(part, field)
        case Given() | Is():
            return _is_met(condition, value_at(part, condition.field))
    raise TypeError(condition)


def value_at(part: object, field: str) -> Any:  # noqa: ANN401 - any field
    """Value of a field of a part or of what lies in it; None where nothing is there."""
    for name in field.split("."):
        if part is None:
            return None
        part = getattr(part, name)
    return part


def fields_in(condition: FieldCondition) -> Iterator[str]:
    """The fields that a condition names."""
    match condition:
        case Every(parts) | Some(parts):
            for each in parts:
                yield from fields_in(each)
        case Not(inner):
            yield from fields_in(inner)
        case Compared(left, _, right):
            yield from (left, right)
        case Given() | Written() | Is():
            yield condition.field


def written_as(model: type[BaseModel], field: str) -> tuple[str, ...]:
    """A field's path in the words of files.

    Raises:
        KeyError: the model has no such field.
    """
    name, _, rest = field.partition(".")
    info = model.model_fields[name]
    alias = info.alias or to_camel(name)
    return (alias, *written_as(_part_in(info), rest)) if rest else (alias,)


def cel(condition: FieldCondition, model: type[BaseModel]) -> str:
    """A condition in CEL; `self` is the part."""
    match condition:
        case Every(parts):
            return " && ".join(_group(cel(each, model)) for each in parts)
        case Some(parts):
            return " || ".join(_group(cel(each, model)) for each in parts)
        case Not(inner):
            return f"!({cel(inner, model)})"
        case Compared(left, operator, right):
            return _compared_in_cel(model, left, operator, right)
        case Given() | Written() | Is():
            return _leaf_in_cel(condition, model, condition.field, "self")
    raise TypeError(condition)


def schema(
    condition: FieldCondition, model: type[BaseModel], *, with_null: bool = True
) -> Schema | None:
    """A condition in JSON Schema; None where that cannot say it.

    Args:
        condition: The condition.
        model: Model of the part.
        with_null: Whether a null may stand where nothing is given; the API server drops nulls.
    """
    match condition:
        case Every(parts):
            return _combined("allOf", parts, model, with_null=with_null)
        case Some(parts):
            return _combined("anyOf", parts, model, with_null=with_null)
        case Not(inner):
            found = schema(inner, model, with_null=with_null)
            return None if found is None else {"not": found}
        case Given() | Written() | Is():
            return _leaf_in_schema(condition, model, condition.field, with_null=with_null)
    return None


def _combined(
    word: str, parts: tuple[FieldCondition, ...], model: type[BaseModel], *, with_null: bool
) -> Schema | None:
    found = [schema(each, model, with_null=with_null) for each in parts]
    return None if None in found else {word: found}


def _is_written(part: BaseModel, field: str) -> bool:
    name, _, rest = field.partition(".")
    value = getattr(part, name)
    if name not in part.model_fields_set or value is None:
        return False
    return not rest or (isinstance(value, BaseModel) and _is_written(value, rest))


def _is_met(leaf: Leaf, value: object) -> bool:
    """Whether a value of the leaf's field makes it true; for what is not written, its default."""
    match leaf:
        case Given():
            return value is not None and value not in ((), {})
        case Is(_, values):
            return any(type(value) is type(each) and value == each for each in values)
    return False


def is_met_by_default(leaf: Leaf, info: FieldInfo, rest: str) -> bool:
    """Whether a leaf is true where its field is not written.

    Args:
        leaf: The leaf.
        info: The part's own field that it names.
        rest: What it names inside of that field, if anything.
    """
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    return _is_met(leaf, value_at(default, rest) if rest else default)


def part_in(info: FieldInfo) -> type[BaseModel] | None:
    """The one model behind a field that is no list and no mapping; None where there is none."""
    found = [each for each in alternatives(info.annotation) if each is not type(None)]
    if len(found) == 1 and isinstance(found[0], type) and issubclass(found[0], BaseModel):
        return found[0]
    return None


def _part_in(info: FieldInfo) -> type[BaseModel]:
    part = part_in(info)
    assert part is not None, info  # noqa: S101 - a test walks every field that a rule names
    return part


def _leaf_in_cel(leaf: Leaf, model: type[BaseModel], field: str, place: str) -> str:
    name, _, rest = field.partition(".")
    info = model.model_fields[name]
    alias = info.alias or to_camel(name)
    here = f"{place}.{f'__{alias}__' if alias in _RESERVED else alias}"
    there = f"has({here})"
    if rest:
        inside = _group(_leaf_in_cel(leaf, _part_in(info), rest, here))
    elif isinstance(leaf, Is):
        # A list in CEL holds values of one type only, so that each is compared by itself.
        values = [json.dumps(each).replace('"', "'") for each in leaf.values]
        inside = _group(" || ".join(f"{here} == {each}" for each in values))
    else:
        inside = f"size({here}) > 0" if isinstance(leaf, Given) and is_sized(info) else ""
    if info.is_required():
        return inside or "true"
    if is_met_by_default(leaf, info, rest):
        return f"!{there} || {inside}" if inside else "true"
    return f"{there} && {inside}" if inside else there


def is_sized(info: FieldInfo) -> bool:
    """Whether a field holds a list or a mapping, which may be empty."""
    origins = {getattr(each, "__origin__", each) for each in alternatives(info.annotation)}
    return bool(origins & {tuple, dict})


def _group(expression: str) -> str:
    is_plain = "||" not in expression and "&&" not in expression
    return expression if is_plain else f"({expression})"


def _compared_in_cel(model: type[BaseModel], left: str, operator: str, right: str) -> str:
    guards, sides = [], []
    for field in (left, right):
        info = model.model_fields[field]
        here = f"self.{info.alias or to_camel(field)}"
        if info.is_required():
            sides.append(here)
        elif info.default is None:
            guards.append(f"!has({here})")
            sides.append(here)
        else:
            sides.append(f"(has({here}) ? {here} : {info.default})")
    return " || ".join([*guards, f"{sides[0]} {operator} {sides[1]}"])


def _leaf_in_schema(leaf: Leaf, model: type[BaseModel], field: str, *, with_null: bool) -> Schema:
    name, _, rest = field.partition(".")
    info = model.model_fields[name]
    alias = info.alias or to_camel(name)
    by_default = is_met_by_default(leaf, info, rest)
    inside: Schema
    if rest:
        inside = _leaf_in_schema(leaf, _part_in(info), rest, with_null=with_null)
    elif isinstance(leaf, Is):
        inside = {"enum": [*leaf.values, *([None] if with_null and by_default else [])]}
    elif isinstance(leaf, Given) and is_sized(info):
        inside = {_size_word(info): 1} | ({"not": {"type": "null"}} if with_null else {})
    else:
        inside = {"not": {"type": "null"}} if with_null else {}
    found: Schema = {} if by_default else {"required": [alias]}
    return found | ({"properties": {alias: inside}} if inside else {})


def _size_word(info: FieldInfo) -> str:
    origins = {getattr(each, "__origin__", each) for each in alternatives(info.annotation)}
    return "minItems" if tuple in origins else "minProperties"
