"""Rules between the fields of a part: declared on its class, checked and published from there.

Validation, the JSON Schema of editors and the schema of the API server all follow from the
declaration, so that none of them accepts what another refuses. `rules_of` gives the whole table.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from holdfast.manifest.text.faults import fault, together
from holdfast.manifest.types.compiled_conditions import Check, compiled, fields_that_break
from holdfast.manifest.types.conditions import (
    FieldCondition,
    part_in,
    schema,
    value_at,
    written_as,
)
from holdfast.manifest.types.manifest_model import ManifestModel


@dataclass(frozen=True, slots=True)
class Found:
    """A place where a rule is broken that a function checks.

    Attributes:
        at: The field below the part, in the words of files.
        found: What stands there.
        remedy: What to change, where the rule cannot say it.
        words: Values for the braces in the rule's words.
    """

    at: tuple[str | int, ...]
    found: str = ""
    remedy: str = ""
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Computed:
    """What a function checks that is registered with `finds`, since no condition can say it.

    Attributes:
        cel: The same in CEL, written by hand; empty where `why_not` says why there is none.
        why_not: Why the API server does not check it.
        fields: The part's own fields, in Python's words, one of which stands in every part that
            breaks it; empty where a part may break it whatever stands in it.
    """

    cel: str = ""
    why_not: str = ""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule between the fields of a part.

    Attributes:
        id: Its name, unique in the package.
        holds: What must be true; a function's findings where it is `Computed`.
        expected: What is expected, for the error.
        remedy: What to change.
        at: The field at fault, in Python's words; empty for the part as a whole.
        shown: Fields whose values the error shows.
        policy: The policy rule that it keeps, where there is one.
    """

    id: str
    holds: FieldCondition | Computed
    expected: str
    remedy: str = ""
    at: str = ""
    shown: tuple[str, ...] = ()
    policy: str = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Fields of which exactly one is given.

    Attributes:
        fields: Their names in Python; a list counts as given when it is not empty.
        may_be_none: Whether none may be given, too.
        remedy: What to do when it is otherwise.
    """

    fields: tuple[str, ...]
    may_be_none: bool = False
    remedy: str = "write one of them"


@dataclass(frozen=True, slots=True)
class Unique:
    """Mark of a list in whose items one field differs, or each item as a whole.

    Attributes:
        key: Name of that field in Python and in files; empty for the whole item.
    """

    key: str = "name"


Finder = Callable[[Any], Iterator[Found]]
F = TypeVar("F", bound=Finder)
_FINDERS: Final[dict[str, Finder]] = {}


def finds(rule: str) -> Callable[[F], F]:
    """Register the function that finds where a rule is broken, under the rule's id."""

    def register(function: F) -> F:
        _FINDERS[rule] = function
        return function

    return register


class Ruled(ManifestModel):
    """A part with rules between its fields; a class adds its own to those that it inherits."""

    RULES: ClassVar[tuple[Rule | OneOf, ...]] = ()

    @classmethod
    def derived_rules(cls) -> tuple[Rule, ...]:
        """Rules that follow from marks at fields."""
        return ()

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        faults = list(self.faults())
        if len(faults) == 1:
            raise faults[0]
        if faults:
            raise together(type(self).__name__, faults)
        return self

    def faults(self) -> Iterator[PydanticCustomError]:
        """What is wrong between its fields."""
        yield from faults_of(self)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The part's schema with those of its rules that JSON Schema can say."""
        result = handler(core)
        place = handler.resolve_ref_schema(result)
        said: list[dict[str, Any] | None] = []
        for rule in rules_of(cls):
            if isinstance(rule, OneOf):
                said.append(_choice(cls, rule, place["properties"]))
            elif isinstance(rule.holds, FieldCondition):
                said.append(schema(rule.holds, cls))
        for name, mark in unique_fields(cls):
            if not mark.key:
                place["properties"][written_as(cls, name)[0]]["uniqueItems"] = True
        if published := [each for each in said if each is not None]:
            place["allOf"] = published
        return result


@cache
def rules_of(model: type[BaseModel]) -> tuple[Rule | OneOf, ...]:
    """The rules of a part, inherited ones first."""
    declared = [
        rule for parent in reversed(model.__mro__) for rule in parent.__dict__.get("RULES", ())
    ]
    return (*declared, *(model.derived_rules() if issubclass(model, Ruled) else ()))


@cache
def unique_fields(model: type[BaseModel]) -> tuple[tuple[str, Unique], ...]:
    """Lists of a part whose items differ: name in Python, and in what."""
    return tuple(
        (name, mark)
        for name, info in model.model_fields.items()
        for mark in info.metadata
        if isinstance(mark, Unique)
    )


def faults_of(part: BaseModel) -> Iterator[PydanticCustomError]:
    """Every rule that a validated part breaks, at its place."""
    model = type(part)
    lists, checks = _to_check(model, frozenset(part.model_fields_set))
    for field, mark in lists:
        yield from _repetitions(part, field, mark)
    for rule, is_kept in checks:
        if isinstance(rule, OneOf):
            given = [name for name in rule.fields if getattr(part, name) not in (None, ())]
            if len(given) != 1 and (given or not rule.may_be_none):
                found = _found(model, rule, given)
                yield fault(choice_words(model, rule), found=found, remedy=rule.remedy)
        elif is_kept is None:
            for each in _FINDERS[rule.id](part):
                yield _computed(rule, each)
        elif not is_kept(part):
            yield _broken(part, rule)


def _broken(part: BaseModel, rule: Rule) -> PydanticCustomError:
    at = written_as(type(part), rule.at) if rule.at else ()
    return fault(rule.expected, found=_shown(part, rule), remedy=rule.remedy, at=at)


def _computed(rule: Rule, found: Found) -> PydanticCustomError:
    words = dict(found.words)
    return fault(
        rule.expected.format_map(words) if words else rule.expected,
        found=found.found,
        remedy=found.remedy or rule.remedy,
        rule=rule.policy,
        at=found.at,
    )


Lists = tuple[tuple[str, Unique], ...]
Checks = tuple[tuple[Rule | OneOf, Check | None], ...]
"""Each rule with the function that its condition is; None where it has no condition."""


@lru_cache(maxsize=4096)
def _to_check(model: type[BaseModel], given: frozenset[str]) -> tuple[Lists, Checks]:
    """What has to be checked of a part in which only these fields stand.

    A part has few of its fields, and most rules can only be broken by a field that stands there.
    """
    lists = tuple(each for each in _checked_lists(model) if each[0].partition(".")[0] in given)
    checks = tuple(
        (rule, _check_of(rule))
        for rule, breaking in _breaking_fields(model)
        if breaking is None or not breaking.isdisjoint(given)
    )
    return lists, checks


def _check_of(rule: Rule | OneOf) -> Check | None:
    if isinstance(rule, OneOf) or isinstance(rule.holds, Computed):
        return None
    return compiled(rule.holds)


@cache
def _breaking_fields(
    model: type[BaseModel],
) -> tuple[tuple[Rule | OneOf, frozenset[str] | None], ...]:
    """Each rule of a part with the fields one of which stands where it is broken; None: any."""
    return tuple((rule, _breaking(rule, model)) for rule in rules_of(model))


def _breaking(rule: Rule | OneOf, model: type[BaseModel]) -> frozenset[str] | None:
    if isinstance(rule, OneOf):
        return frozenset(rule.fields) if rule.may_be_none else None
    if isinstance(rule.holds, Computed):
        return frozenset(rule.holds.fields) or None
    return fields_that_break(rule.holds, model)


def _shown(part: BaseModel, rule: Rule) -> str:
    if len(rule.shown) == 1 and rule.shown[0] == rule.at:
        return repr(value_at(part, rule.at))
    return ", ".join(
        f"{'.'.join(written_as(type(part), name))} {value_at(part, name)}" for name in rule.shown
    )


@cache
def _checked_lists(model: type[BaseModel]) -> tuple[tuple[str, Unique], ...]:
    """Lists whose items differ, of a part and of the parts in it that have no rules themselves."""
    found = list(unique_fields(model))
    for name, info in model.model_fields.items():
        part = part_in(info)
        if part is not None and not issubclass(part, Ruled):
            found += [(f"{name}.{below}", mark) for below, mark in _checked_lists(part)]
    return tuple(found)


def _repetitions(part: BaseModel, field: str, mark: Unique) -> Iterator[PydanticCustomError]:
    items = value_at(part, field) or ()
    if len(items) < 2:  # noqa: PLR2004 - one item repeats nothing
        return
    path = written_as(type(part), field)
    seen: list[object] = []
    for index, item in enumerate(items):
        value = getattr(item, mark.key) if mark.key else item
        if value in seen:
            what = f"{mark.key}s in" if mark.key else "entries of"
            at: tuple[str | int, ...] = (*path, index, *([mark.key] if mark.key else []))
            found = f"{value!r} twice" if isinstance(value, str) else ""
            remedy = "rename one of them" if mark.key else "remove one of them"
            yield fault(
                f"{what} {'.'.join(path)} must be unique", found=found, remedy=remedy, at=at
            )
        seen.append(value)


def _choice(
    model: type[BaseModel], choice: OneOf, properties: dict[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """A choice in JSON Schema; nulls and empty lists count as not given."""
    alternatives: list[dict[str, Any]] = []
    for name in _written(model, choice.fields):
        field = properties[name]
        is_list = field.get("type") == "array"
        given = {"minItems": 1} if is_list else {"not": {"type": "null"}}
        alternatives.append({"required": [name], "properties": {name: given}})
    if choice.may_be_none:
        alternatives.append({"not": {"anyOf": list(alternatives)}})
    return {"oneOf": alternatives}


def _written(model: type[BaseModel], names: tuple[str, ...] | list[str]) -> list[str]:
    """Names of fields as files have them."""
    return [written_as(model, name)[0] for name in names]


def choice_words(model: type[BaseModel], choice: OneOf) -> str:
    """What a choice expects, in the words of files."""
    names = _written(model, choice.fields)
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    if choice.may_be_none:
        return f"expected at most one of {listed}"
    if len(names) == 2:  # noqa: PLR2004 - either this or that
        return f"expected either {names[0]} or {names[1]}"
    return f"expected exactly one of {listed}"


def _found(model: type[BaseModel], choice: OneOf, given: list[str]) -> str:
    is_pair = len(choice.fields) == 2  # noqa: PLR2004 - neither this nor that
    if not given:
        return "neither" if is_pair else "none"
    return "both" if is_pair else " and ".join(_written(model, given))
