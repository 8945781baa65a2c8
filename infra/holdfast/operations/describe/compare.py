"""What two stacks make differently of the same manifests."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import Segment, format_path
from holdfast.manifest.fleet.effective_config import (
    EffectiveValue,
    effective_settings,
    effective_values,
)
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.stack_files import NAMESPACE
from holdfast.operations.stack.agent_names import no_such_agent
from holdfast.operations.stack.project import find_project_root
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.declared import plan_fleet
from holdfast.report.text.explanation import Difference, difference_json, difference_text

ABSENT = "absent"
_MARKS = frozenset({"holdfast.dev/stack", "holdfast.dev/revision", "holdfast.dev/config-hash"})


def compare(stacks: tuple[str, str], agent: str, *, with_objects: bool, output: str) -> str:
    """The differences as text or JSON.

    Args:
        stacks: Their names.
        agent: Only this one; empty for all of them and the stacks' own settings.
        with_objects: Compare what is rendered, too.
        output: `text` or `json`.

    Raises:
        InputError: no such stack or agent.
        InvalidFilesError: a manifest or a stack file is not valid.
    """
    root = find_project_root()
    first, second = (load_fleet(root, stack) for stack in stacks)
    names = sorted({each.name for fleet in (first, second) for each in fleet.workloads})
    if agent and agent not in names:
        raise no_such_agent(agent, names)
    differences = [] if agent else list(_settings(first, second))
    for name in [agent] if agent else names:
        differences += _values(name, first, second)
        if with_objects:
            differences += _objects(name, first, second)
    if output == "json":
        return difference_json(stacks, differences)
    return difference_text(stacks, differences) or f"{stacks[0]} and {stacks[1]} do not differ\n"


def _settings(first: Fleet, second: Fleet) -> Iterator[Difference]:
    sides = [effective_settings(fleet) for fleet in (first, second)]
    yield from _between("stack settings", NAMESPACE, sides)


def _values(name: str, first: Fleet, second: Fleet) -> Iterator[Difference]:
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
) -> Iterator[Difference]:
    first, second = ({each.field: each for each in side} for side in sides)
    for path in dict.fromkeys([*first, *second]):
        pair = (first.get(path), second.get(path))
        shown = tuple(_text(each.value) if each else ABSENT for each in pair)
        if shown[0] != shown[1]:
            origins = tuple(each.origin if each else "" for each in pair)
            yield Difference(agent, prefix + path, (shown[0], shown[1]), (origins[0], origins[1]))


def _objects(name: str, first: Fleet, second: Fleet) -> Iterator[Difference]:
    sides = [
        [item.manifest for item in rendered if item.agent == name]
        for rendered in (render_fleet(plan_fleet(fleet, fleet.stack)) for fleet in (first, second))
    ]
    yield from differences_of_objects(name, *sides)


def differences_of_objects(
    name: str, first: Iterable[KubeObject], second: Iterable[KubeObject]
) -> Iterator[Difference]:
    """What differs in one agent's objects, but for the marks that every stack has of its own."""
    sides = [_leaves(objects) for objects in (first, second)]
    for path in dict.fromkeys([*sides[0], *sides[1]]):
        shown = (sides[0].get(path, ABSENT), sides[1].get(path, ABSENT))
        if shown[0] != shown[1]:
            yield Difference(name, path, shown)


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
