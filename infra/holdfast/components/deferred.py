"""Plans that wait for outputs: rendered at once, with outputs where their values will stand.

The arguments are rendered with several stand-ins for each output. What is equal in all of these
renderings does not depend on the outputs; what differs becomes an output, and gets its value from
one more rendering, with the real values. So hashes, names and addresses made of a value are right
without being named here, and rendering knows nothing of outputs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import pulumi
from pydantic import BaseModel

from holdfast.components.argument_errors import ArgumentFault, ArgumentsError
from holdfast.components.late_arguments import LateArguments, late_arguments, why_plain
from holdfast.components.late_objects import (
    Objects,
    at,
    late_paths,
    other_shape,
    with_values_at,
)
from holdfast.components.resolved import Resolved, UnrenderableError, objects_of
from holdfast.components.stand_ins import VERSIONS
from holdfast.errors import RenderError
from holdfast.kube.paths import Path
from holdfast.render.plan.metadata import RenderedObject

M = TypeVar("M", bound=BaseModel)
P = TypeVar("P")
Q = TypeVar("Q")
T = TypeVar("T")


@dataclass(frozen=True)
class Late(Generic[P]):
    """What a plan waits for.

    Attributes:
        arguments: The outputs, and where they stand.
        real: The plan with their values.
        build: The plan for other values of the outputs, of which some are secrets.
    """

    arguments: LateArguments[Any]
    real: "pulumi.Output[Resolved[P]]"
    build: Callable[[Sequence[Any], Sequence[bool]], P]

    def map(self, part: Callable[[P], Q]) -> "Late[Q]":
        """The same of a part of the plan."""
        return Late(
            self.arguments,
            self.real.apply(lambda real: real.map(part)),
            lambda values, secret: part(self.build(values, secret)),
        )


@dataclass(frozen=True)
class Deferred(Generic[P]):
    """A plan, some of whose values may be outputs.

    Attributes:
        versions: Version of the stand-ins to the plan with them; one where nothing is late.
        late: The outputs; None where every value is known.
        inputs: What a component records of its arguments in the state; nothing for one that
            another has made.
    """

    versions: Mapping[int, P]
    late: Late[P] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> P:
        """The plan with stand-ins, for what no output may decide."""
        return next(iter(self.versions.values()))

    def map(self, part: Callable[[P], Q]) -> "Deferred[Q]":
        """A part of the plan, or what is made of it."""
        late = None if self.late is None else self.late.map(part)
        return Deferred({number: part(each) for number, each in self.versions.items()}, late)

    def rendered(self, render: Callable[[P], Objects]) -> list[RenderedObject]:
        """The objects, with outputs where their values will stand.

        Raises:
            UnrenderableError: the plan cannot be rendered.
            ArgumentsError: an output decides which objects there are.
        """
        if self.late is None:
            return list(objects_of(render, self.known))
        return _Rendering(self.late, render, self._renderings(self.late, render)).objects()

    def value(self, read: Callable[[P], T]) -> pulumi.Output[T]:
        """What follows from the plan, for the outputs of a component."""
        if self.late is None:
            return pulumi.Output.from_input(objects_of(read, self.known))
        found = [*self._renderings(self.late, read).values()]
        if all(each == found[0] for each in found):
            return pulumi.Output.from_input(found[0])
        return self.late.real.apply(lambda real: real.rendered(read))

    def _renderings(self, late: Late[P], render: Callable[[P], Q]) -> dict[int, Q]:
        return _each(late.arguments, self.versions, lambda version: render(self.versions[version]))


def _each(
    arguments: LateArguments[Any], versions: Iterable[int], make: Callable[[int], Q]
) -> dict[int, Q]:
    """What is made of each version that fits: two at least, so that they can be compared."""
    found: dict[int, Q] = {}
    errors: list[RenderError | ArgumentsError] = []
    for version in versions:
        try:
            found[version] = make(version)
        except (RenderError, ArgumentsError) as error:
            errors.append(error)
    if len(found) > 1:
        return found
    raise _in_their_words(errors[0], arguments)


def _in_their_words(
    error: RenderError | ArgumentsError, arguments: LateArguments[Any]
) -> Exception:
    """An error about a stand-in as one about the output that it stands for."""
    text = f"{error.message} {error.remedy}"
    fields = [
        each.field
        for each in arguments.late
        if any(each.stand_in(version) in text for version in range(VERSIONS))
    ]
    if fields:
        return _shape_error(arguments, fields, "what is rendered")
    if isinstance(error, ArgumentsError):
        return error
    return UnrenderableError(error.message, remedy=error.remedy)


def _shape_error(arguments: LateArguments[Any], fields: Sequence[str], what: str) -> ArgumentsError:
    reason = why_plain(f"its value decides {what}")
    return ArgumentsError(arguments.component, [ArgumentFault(each, reason) for each in fields])


class _Rendering(Generic[P]):
    """What a plan with outputs renders to."""

    def __init__(
        self,
        late: Late[P],
        render: Callable[[P], Objects],
        versions: Mapping[int, Objects],
    ) -> None:
        self._late, self._render = late, render
        self._numbers = [*versions]
        self._versions = [*versions.values()]
        first = self._versions[0]
        anywhere: list[list[Path]] = [[()] for _ in first]
        for version, other in versions.items():
            if what := other_shape(other, first, anywhere):
                stand_ins = late.arguments.stand_ins(version)
                raise self._blamed(what, anywhere, stand_ins, ())
        self._paths = late_paths(self._versions)

    def objects(self) -> list[RenderedObject]:
        """The objects, with outputs where the versions differ."""
        first = self._versions[0]
        whole = self._late.real.apply(self._manifests)
        return [self._with_outputs(index, whole) for index in range(len(first))]

    def _manifests(self, real: Resolved[P]) -> list[Any]:
        """The manifests with the real values, which may differ only where they were expected to.

        Raises:
            ArgumentsError: a value decides the shape.
        """
        items = real.rendered(self._render)
        if what := other_shape(items, self._versions[0], self._paths):
            raise self._blamed(what, self._paths, real.values, real.secret)
        return [item.manifest for item in items]

    def _blamed(
        self,
        what: str,
        late: Sequence[Sequence[Path]],
        values: Sequence[Any],
        secret: Sequence[bool],
    ) -> ArgumentsError:
        """The error that names the outputs which alone give another shape."""
        arguments = self._late.arguments
        usual = arguments.stand_ins(self._numbers[0])
        guilty = []
        for number, each in enumerate(arguments.late):
            alone = [*usual[:number], values[number], *usual[number + 1 :]]
            try:
                items = self._render(self._late.build(alone, secret))
            except (RenderError, ArgumentsError):
                guilty.append(each.field)
                continue
            if other_shape(items, self._versions[0], late):
                guilty.append(each.field)
        fields = guilty or [each.field for each in arguments.late]
        return _shape_error(arguments, fields, what)

    def _with_outputs(self, index: int, whole: "pulumi.Output[list[Any]]") -> RenderedObject:
        versions = [items[index] for items in self._versions]
        item = versions[0]
        leaves = {path: self._leaf(index, path, whole) for path in self._paths[index]}
        is_named_late = any(each.content != item.content for each in versions)
        return replace(
            item,
            manifest=with_values_at(item.manifest, leaves),
            # A name that is not known yet names no resource.
            content="" if is_named_late else item.content,
        )

    def _leaf(
        self, index: int, path: Path, whole: "pulumi.Output[list[Any]]"
    ) -> "pulumi.Output[Any]":
        """One value: an output as it is, where rendering only carries it, else made of them all.

        What is carried stays known at preview, and readable, where another output does not.
        """
        arguments = self._late.arguments
        texts = [at(items[index].manifest, path) for items in self._versions]
        for number, each in enumerate(arguments.late):
            if texts == [each.stand_in(version) for version in self._numbers]:
                return arguments.carried(number)
        return whole.apply(lambda manifests: at(manifests[index], path))


def deferred(
    component: str, args: Mapping[str, Any], model: type[M], plan: Callable[[M, bool], P]
) -> Deferred[P]:
    """The plan that arguments describe, with outputs or without.

    Args:
        component: Type and name of the component, for errors.
        args: What the program passed.
        model: The model of the component's arguments.
        plan: From validated arguments, and whether outputs are among them, to the plan.

    Raises:
        ArgumentsError: the arguments do not validate; names every fault.
    """
    arguments = late_arguments(component, args, model)
    if not arguments.late:
        known = objects_of(lambda given: plan(given, False), arguments.validated([]))
        return Deferred({0: known}, inputs=arguments.recorded())

    def build(values: Sequence[Any], secret: Sequence[bool]) -> P:
        return objects_of(lambda given: plan(given, True), arguments.validated(values, secret))

    versions = _each(
        arguments, range(VERSIONS), lambda version: build(arguments.stand_ins(version), ())
    )
    outputs = [each.output for each in arguments.late]
    values = pulumi.Output.all(
        values=pulumi.Output.all(*outputs),
        secret=pulumi.Output.all(*(each.is_secret() for each in outputs)),
    )

    def resolved(known: Any) -> Resolved[P]:  # noqa: ANN401 - as pulumi types it
        found, secret = known["values"], known["secret"]
        return Resolved(build(found, secret), found, secret)

    late = Late(arguments, values.apply(resolved), build)
    return Deferred(versions, late, arguments.recorded())
