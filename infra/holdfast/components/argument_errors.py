"""Arguments of a component to a validated model, or one error that names every fault."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pulumi
from pydantic import BaseModel

from holdfast.errors import InputError
from holdfast.kube.paths import Path, Segment
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.validation import validate

M = TypeVar("M", bound=BaseModel)


class CamelCaseArguments(dict[str, Any]):
    """Arguments of a program in another language: their faults are named as they are written."""


@dataclass(frozen=True, order=True)
class ArgumentFault:
    """One fault.

    Attributes:
        path: Where in the arguments, as the caller spells it; empty for the whole of them.
        reason: What was expected there, what was found, and what to do.
    """

    path: str
    reason: str


class ArgumentsError(InputError, pulumi.RunError):
    """The arguments of a component do not validate.

    A `RunError`, too, so that a program which lets it pass ends in its text and no traceback.
    """

    def __init__(self, component: str, faults: Sequence[ArgumentFault]) -> None:
        lines = [f"  {fault.path}: {fault.reason}".replace(" : ", " ") for fault in faults]
        super().__init__("\n".join([f"{component}: invalid arguments", *lines]))
        self.component = component
        self.faults = tuple(faults)


def validated(component: str, args: Mapping[str, Any], model: type[M]) -> M:
    """Validate arguments as strictly as a manifest, in snake_case or camelCase.

    Args:
        component: Type and name of the component, for the error.
        args: What the program passed, with a value for each output. Engines send whole numbers as
            floats; they are whole again.
        model: The model of the component's arguments.

    Raises:
        ArgumentsError: names every fault and its path.
    """
    spelled = _as_is if isinstance(args, CamelCaseArguments) else _Spelling(args)
    nowhere = Origin("", 0, 0)
    plain = whole_numbers(args)
    result = validate(model, plain, nowhere, written=spelled, is_by_name=True)
    if not isinstance(result, list):
        return result
    faults = [ArgumentFault(each.path, _reason(str(each), each.path)) for each in result]
    raise ArgumentsError(component, sorted(faults))


def whole_numbers(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The same value with floats that are whole as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: whole_numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(each) for each in value]
    return value


def _reason(text: str, path: str) -> str:
    return text.removeprefix(path).removeprefix(": ")


def _as_is(path: Path) -> Path:
    return path


class _Spelling:
    """Paths as a Python caller spells them: the key that stands there, else snake_case."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        self._args = args

    def __call__(self, path: Path) -> Path:
        here: Any = self._args
        spelled: list[Segment] = []
        for segment in path:
            key = _key_in(here, segment)
            spelled.append(key)
            here = _below(here, key)
        return tuple(spelled)


def _key_in(value: object, segment: Segment) -> Segment:
    if not isinstance(segment, str):
        return segment
    snake = re.sub(r"(?<=[a-z0-9])([A-Z]+)", lambda found: f"_{found[1].lower()}", segment)
    spellings = (segment, snake, f"{segment}_")
    keys = value if isinstance(value, Mapping) else {}
    return next((each for each in spellings if each in keys), snake)


def _below(value: Any, segment: Segment) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return value.get(segment)
    if isinstance(value, list | tuple) and isinstance(segment, int) and segment < len(value):
        return value[segment]
    return None
