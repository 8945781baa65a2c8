"""What two stacks make differently of the same manifests."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.drift.finding import NotChecked
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import Segment, format_path
from holdfast.manifest.fleet.effective_config import (
    EffectiveValue,
    effective_settings,
    effective_values,
)
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.stack.stack_files import NAMESPACE
from holdfast.manifest.types.marks import CONFIG_HASH, REVISION, STACK
from holdfast.operations.stack.context import StackContext, no_such_agent

ABSENT = "absent"
_MARKS = frozenset({STACK, REVISION, CONFIG_HASH})


@dataclass(frozen=True, slots=True)
class StackValueDifference:
    """One value that is not the same on two stacks.

    Attributes:
        path: Field of the manifest, or of a rendered object with its kind and name before it.
        values: What holds on either; `absent` where nothing does.
        origins: Who decided it on either; empty for rendered objects.
    """

    agent: str
    path: str
    values: tuple[str, str]
    origins: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class LiveComparison:
    """What two clusters have made of the same manifests.

    Attributes:
        differences: Values that are as rendered in one cluster only, or in neither.
        not_checked: Stack and what of it could not be read: nothing is known about that.
    """

    differences: tuple[StackValueDifference, ...]
    not_checked: tuple[tuple[str, NotChecked], ...]


def compare(
    first: StackContext, second: StackContext, agent: str, *, with_objects: bool
) -> list[StackValueDifference]:
    """What two stacks make differently of the same manifests, value by value.

    Args:
        first: One stack.
        second: The other one.
        agent: Only this one; empty for all of them and the stacks' own settings.
        with_objects: Compare what is rendered, too.

    Raises:
        InputError: no such stack or agent.
        InvalidFilesError: a manifest or a stack file is not valid.
    """
    names = sorted({each.name for side in (first, second) for each in side.fleet.workloads})
    if agent and agent not in names:
        raise no_such_agent(agent, names)
    differences = [] if agent else list(_settings(first.fleet, second.fleet))
    for name in [agent] if agent else names:
        differences += _values(name, first.fleet, second.fleet)
        if with_objects:
            sides = (
                [item.manifest for item in side.rendered if item.agent == name]
                for side in (first, second)
            )
            differences += differences_of_objects(name, *sides)
    return differences


def _settings(first: Fleet, second: Fleet) -> Iterator[StackValueDifference]:
    sides = [effective_settings(fleet) for fleet in (first, second)]
    yield from _between("stack settings", NAMESPACE, sides)


def _values(name: str, first: Fleet, second: Fleet) -> Iterator[StackValueDifference]:
    sides = [
        effective_values(agent, fleet)
        for fleet in (first, second)
        for agent in fleet.workloads
        if agent.name == name
    ]
    if len(sides) == 2:  # noqa: PLR2004 - both stacks have it
        yield from _between(name, "", sides)


def _between(
    agent: str, prefix: str, sides: list[tuple[EffectiveValue, ...]]
) -> Iterator[StackValueDifference]:
    first, second = ({each.field: each for each in side} for side in sides)
    for path in dict.fromkeys([*first, *second]):
        pair = (first.get(path), second.get(path))
        shown = tuple(_text(each.value) if each else ABSENT for each in pair)
        if shown[0] != shown[1]:
            origins = tuple(each.origin if each else "" for each in pair)
            yield StackValueDifference(
                agent, prefix + path, (shown[0], shown[1]), (origins[0], origins[1])
            )


def differences_of_objects(
    name: str, first: Iterable[KubeObject], second: Iterable[KubeObject]
) -> Iterator[StackValueDifference]:
    """What differs in one agent's objects, but for the marks that every stack has of its own."""
    sides = [_leaves(objects) for objects in (first, second)]
    for path in dict.fromkeys([*sides[0], *sides[1]]):
        shown = (sides[0].get(path, ABSENT), sides[1].get(path, ABSENT))
        if shown[0] != shown[1]:
            yield StackValueDifference(name, path, shown)


def _leaves(objects: Iterable[KubeObject]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in objects:
        ref = reference_of(one)
        for path, value in _walk(one, ()):
            is_mark = path[-1] in _MARKS or path[-1] == "app.kubernetes.io/instance"
            if not is_mark:
                found[f"{ref}: {format_path(path)}"] = _text(value)
    return found


def _walk(value: Any, path: tuple[Segment, ...]) -> Iterator[tuple[tuple[Segment, ...], Any]]:  # noqa: ANN401 - any JSON value
    entries: Any = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    if not entries:
        yield path, value
    for key, below in entries:
        yield from _walk(below, (*path, key))


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, ensure_ascii=False)
