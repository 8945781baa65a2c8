"""Conditions as functions, and the parts of which a condition need not be asked.

A rule is checked on every part of every manifest, so a condition is compiled once, not walked at
each check. `conditions.holds` says what a condition means; a test holds both to the same.
"""

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter

from pydantic import BaseModel

from holdfast.manifest.types.conditions import (
    Compared,
    Every,
    FieldCondition,
    Given,
    Is,
    Not,
    Some,
    Words,
    Written,
    is_met_by_default,
    value_at,
)

Check = Callable[[BaseModel], bool]


@cache
def compiled(condition: FieldCondition) -> Check:  # noqa: PLR0911 - one return a form
    """A function that says whether a condition is true of a validated part."""
    match condition:
        case Every(parts):
            return _all([compiled(each) for each in parts])
        case Some(parts):
            return _any([compiled(each) for each in parts])
        case Not(inner):
            check = compiled(inner)
            return lambda part: not check(part)
        case Compared():
            return _compared(condition)
        case Written(field):
            return _written(field)
        case Given(field):
            return _given(_getter(field))
        case Is(field, values):
            return _is(_getter(field), values)
    raise TypeError(condition)


def fields_that_break(condition: FieldCondition, model: type[BaseModel]) -> frozenset[str] | None:
    """Fields of which at least one stands in every part of which a condition is not true.

    A part in which none of them stands need not be checked. The fields are the part's own; what is
    inside of one counts as that one.

    Args:
        condition: What is to hold.
        model: Model of the part.

    Returns:
        None where the condition may be untrue of a part whatever stands in it.
    """
    return _fields_to_be_otherwise(condition, model, is_true=True)


def _fields_to_be_otherwise(
    condition: FieldCondition, model: type[BaseModel], *, is_true: bool
) -> frozenset[str] | None:
    """Fields without which a condition is what is asked: true, or untrue."""
    match condition:
        case Not(inner):
            return _fields_to_be_otherwise(inner, model, is_true=not is_true)
        case Every(parts) | Some(parts):
            below = [_fields_to_be_otherwise(each, model, is_true=is_true) for each in parts]
            is_settled_by_one = isinstance(condition, Some) is is_true
            return _fewest(below) if is_settled_by_one else _together(below)
        case Compared(left, _, right):
            absent = [each for each in (left, right) if _is_none_by_default(model, each)]
            return frozenset(absent[:1]) if is_true and absent else None
        case Given() | Written() | Is():
            name, _, rest = condition.field.partition(".")
            info = model.model_fields[name]
            is_met = not info.is_required() and is_met_by_default(condition, info, rest)
            is_known = not info.is_required() and is_met is is_true
            return frozenset({name}) if is_known else None
    raise TypeError(condition)


def _fewest(found: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    return min((each for each in found if each is not None), key=len, default=None)


def _together(found: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    names: frozenset[str] = frozenset()
    for each in found:
        if each is None:
            return None
        names |= each
    return names


def _is_none_by_default(model: type[BaseModel], field: str) -> bool:
    info = model.model_fields[field]
    return not info.is_required() and info.get_default(call_default_factory=True) is None


Getter = Callable[[BaseModel], object]


def _getter(field: str) -> Getter:
    if "." not in field:
        return attrgetter(field)
    return lambda part: value_at(part, field)


def _all(checks: list[Check]) -> Check:
    if len(checks) == 2:  # noqa: PLR2004 - the most frequent case, without a loop
        first, second = checks
        return lambda part: first(part) and second(part)

    def check_all(part: BaseModel) -> bool:
        for check in checks:  # noqa: SIM110 - a generator costs more than most checks
            if not check(part):
                return False
        return True

    return check_all


def _any(checks: list[Check]) -> Check:
    if len(checks) == 2:  # noqa: PLR2004 - the most frequent case, without a loop
        first, second = checks
        return lambda part: first(part) or second(part)

    def check_any(part: BaseModel) -> bool:
        for check in checks:  # noqa: SIM110 - a generator costs more than most checks
            if check(part):
                return True
        return False

    return check_any


def _given(value_of: Getter) -> Check:
    def check(part: BaseModel) -> bool:
        value = value_of(part)
        return value is not None and value not in ((), {})

    return check


def _is(value_of: Getter, values: tuple[Words, ...]) -> Check:
    pairs = [(type(each), each) for each in values]

    def check(part: BaseModel) -> bool:
        value = value_of(part)
        kind = type(value)
        for each, known in pairs:  # noqa: SIM110 - a generator costs more than the comparison
            if kind is each and value == known:
                return True
        return False

    return check


def _written(field: str) -> Check:
    name, _, rest = field.partition(".")
    below = _written(rest) if rest else None

    def check(part: BaseModel) -> bool:
        if name not in part.model_fields_set:
            return False
        value = getattr(part, name)
        if value is None:
            return False
        return below is None or (isinstance(value, BaseModel) and below(value))

    return check


def _compared(condition: Compared) -> Check:
    left, right = _getter(condition.left), _getter(condition.right)
    is_less = condition.operator == "<"

    def check(part: BaseModel) -> bool:
        first, second = left(part), right(part)
        if first is None or second is None:
            return True
        return bool(first < second if is_less else first <= second)  # type: ignore[operator]

    return check
