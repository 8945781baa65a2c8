"""Arguments some of which are outputs: where those stand, and the same arguments with texts there.

Rendering is pure and asks for texts. Until an output has its value, a stand-in takes its place.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import pulumi
from pydantic import BaseModel, TypeAdapter, ValidationError

from holdfast.components.argument_errors import (
    ArgumentFault,
    ArgumentsError,
    CamelCaseArguments,
    validated,
)
from holdfast.components.stand_ins import Maker, Refused, maker_at
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.types.annotations import alternatives, annotations_at, annotations_below

M = TypeVar("M", bound=BaseModel)
_WITHHELD: Final = "[secret]"


@dataclass(frozen=True)
class LateArgument:
    """One output among the arguments.

    Attributes:
        number: Of the output; the same one has the same stand-in wherever it stands.
        maker: Makes the texts that stand in for it.
    """

    path: Path
    output: pulumi.Output[Any]
    number: int
    maker: Maker

    def stand_in(self, version: int) -> str:
        """A text that stands in for it."""
        return self.maker(self.number, version)

    @property
    def field(self) -> str:
        """Where it stands, as the caller spells it."""
        return format_path(self.path)


@dataclass(frozen=True)
class LateArguments(Generic[M]):
    """The arguments of a component, and the outputs among them.

    Attributes:
        component: Type and name of the component, for errors.
        args: What the program passed.
        model: The model of the component's arguments.
        late: The outputs, in the order in which they stand.
    """

    component: str
    args: Mapping[str, Any]
    model: type[M]
    late: tuple[LateArgument, ...]

    def stand_ins(self, version: int) -> list[str]:
        """The stand-in of each output."""
        return [each.stand_in(version) for each in self.late]

    def recorded(self) -> Mapping[str, Any]:
        """The arguments as the state holds them: in the manifest's words, from every language."""
        given = _replaced(self.args, {each.path: each.output for each in self.late})
        found: Mapping[str, Any] = _recorded(given, (self.model,))
        return found

    def carried(self, number: int) -> "pulumi.Output[Any]":
        """An output that ends in an object as it is; it fails where its field refuses its value."""
        output = self.late[number].output
        both = pulumi.Output.all(value=output, secret=output.is_secret())
        return both.apply(lambda found: self._checked(number, found["value"], found["secret"]))

    def _checked(self, number: int, value: object, is_secret: object) -> object:
        path = self.late[number].path
        forms = annotations_at(self.model, path)
        if any(_accepts(form, value) for form in forms) or not forms:
            return value
        values: list[Any] = [*self.stand_ins(0)]
        values[number] = value
        self.validated(values, [each == number and bool(is_secret) for each in range(len(values))])
        return value

    def validated(self, values: Sequence[Any], secret: Sequence[bool] = ()) -> M:
        """The arguments with these values of the outputs, some of which are secrets.

        Raises:
            ArgumentsError: they do not validate; a secret is not shown.
        """
        given = self.args
        if self.late:
            texts = {each.path: value for each, value in zip(self.late, values, strict=True)}
            given = _replaced(self.args, texts)
        plain = CamelCaseArguments(given) if isinstance(self.args, CamelCaseArguments) else given
        try:
            return validated(self.component, plain, self.model)
        except ArgumentsError as error:
            secrets = {
                each.field: str(value)
                for each, value, is_secret in zip(self.late, values, secret, strict=False)
                if is_secret
            }
            faults = [_without(fault, secrets) for fault in error.faults]
            raise ArgumentsError(self.component, faults) from None


def late_arguments(component: str, args: Mapping[str, Any], model: type[M]) -> LateArguments[M]:
    """The outputs among the arguments of a component.

    Raises:
        ArgumentsError: an output stands where its value decides what is rendered; names each.
    """
    late: list[LateArgument] = []
    numbers: dict[int, int] = {}
    faults: list[ArgumentFault] = []
    for path, output in _outputs_in(args, ()):
        maker = maker_at(model, path)
        if isinstance(maker, Refused):
            faults.append(ArgumentFault(format_path(path), why_plain(maker.reason)))
        else:
            number = numbers.setdefault(id(output), len(numbers))
            late.append(LateArgument(path, output, number, maker))
    if faults:
        raise ArgumentsError(component, sorted(faults))
    return LateArguments(component, args, model, tuple(late))


def _recorded(value: Any, forms: Sequence[Any]) -> Any:  # noqa: ANN401 - any arguments
    parts = [part for form in forms for part in alternatives(form)]
    if isinstance(value, list | tuple):
        return [_recorded(each, _below(parts, index)) for index, each in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    models = [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
    aliases = {
        name: info.alias or name for model in models for name, info in model.model_fields.items()
    }
    return {
        aliases.get(key, key): _recorded(each, _below(parts, key)) for key, each in value.items()
    }


def _below(forms: Sequence[Any], part: str | int) -> list[Any]:
    return [each for form in forms for each in annotations_below(form, part)]


def why_plain(reason: str) -> str:
    """Why a field takes no output, and what to do."""
    return (
        f"expected a plain value, got an output of another resource: {reason}; "
        "use a value that the program knows, and depends_on for the order"
    )


def _outputs_in(value: object, path: Path) -> Iterator[tuple[Path, pulumi.Output[Any]]]:
    if isinstance(value, pulumi.Output):
        yield path, value
    elif isinstance(value, pulumi.output.Unknown) or inspect.isawaitable(value):
        yield path, pulumi.Output.from_input(value)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _outputs_in(each, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _outputs_in(each, (*path, index))


def _replaced(value: Any, texts: Mapping[Path, Any], path: Path = ()) -> Any:  # noqa: ANN401
    if path in texts:
        return texts[path]
    if isinstance(value, Mapping):
        return {key: _replaced(each, texts, (*path, str(key))) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(each, texts, (*path, index)) for index, each in enumerate(value)]
    return value


def _accepts(annotation: Any, value: object) -> bool:  # noqa: ANN401 - any annotation
    try:
        TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        return False
    return True


def _without(fault: ArgumentFault, secrets: Mapping[str, str]) -> ArgumentFault:
    """The fault without the values of secrets: it names the field that holds one."""
    if fault.path in secrets:
        return ArgumentFault(fault.path, "the value of the output, a secret, does not fit here")
    reason = fault.reason
    for secret in secrets.values():
        reason = reason.replace(secret, _WITHHELD) if secret else reason
    return ArgumentFault(fault.path, reason)
