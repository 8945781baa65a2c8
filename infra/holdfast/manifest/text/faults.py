"""How validators speak: a fault carries its parts to the loader, which adds file and line."""

from collections.abc import Callable, Sequence

from pydantic import Discriminator, Tag
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

FAULT = "holdfast"
"""Type of our faults among pydantic's."""

KEY = "[key]"
"""Last part of a location that means the key itself, in pydantic's and in our own."""

MORE_THAN_NOTHING = "expected more than nothing"
"""What is expected where zero may not stand: no other text is near to it."""

BRANCH = "one of: "
"""Opens the names of union branches in pydantic's locations, to tell them from fields."""


def fault(
    expected: str,
    *,
    found: str = "",
    remedy: str = "",
    rule: str = "",
    at: tuple[str | int, ...] = (),
) -> PydanticCustomError:
    """A fault in a value, carrying its parts to the loader.

    Args:
        expected: What was expected.
        found: What was found; by default the value itself, unless it is a mapping or list.
        remedy: What to change.
        rule: Name of the policy rule that is broken, where there is one.
        at: Path below the value at fault, in the words of the file.
    """
    context = {"expected": expected, "found": found, "remedy": remedy, "rule": rule, "at": at}
    # The template must not interpret braces that stand in a user's text.
    return PydanticCustomError(FAULT, "{expected}", context)


def together(title: str, faults: Sequence[PydanticCustomError]) -> ValidationError:
    """Several faults of one value, to be raised where pydantic would take only one."""
    details: list[InitErrorDetails] = [{"type": each, "input": {}} for each in faults]
    return ValidationError.from_exception_data(title, details)


def branch(name: str) -> Tag:
    """Mark one branch of a union that `chosen_by` chooses from."""
    return Tag(BRANCH + name)


def chosen_by(choose: Callable[[object], str | None], expected: str) -> Discriminator:
    """Choose a union's branch by a value's shape, so that a wrong value gives one good message.

    Args:
        choose: Value (of the file or of the model) to the name of a branch, or None.
        expected: What to say when no branch fits.
    """

    def tag(value: object) -> str | None:
        name = choose(value)
        return name and BRANCH + name

    return Discriminator(tag, custom_error_type=FAULT, custom_error_message=expected)
