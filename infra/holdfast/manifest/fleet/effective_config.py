"""The whole configuration of one agent, every value with where it comes from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Segment, format_path
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.kinds.kinds import KINDS, McpServer
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.manifest.types.validation import validate


class ValueSource(Enum):
    """Who decided a value; the later ones give way to the earlier ones."""

    STACK = "stack"
    MANIFEST = "manifest"
    TEAM = "team"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class EffectiveValue:
    """One value that holds for an agent.

    Attributes:
        path: Field in the manifest.
        value: Text, number, word, null, or an empty list or mapping.
        source: Who decided it.
        location: Where it was written; None for a default.
    """

    path: tuple[Segment, ...]
    value: Any
    source: ValueSource
    location: SourceLocation | None

    @property
    def field(self) -> str:
        """The path as people write it."""
        return format_path(self.path)

    @property
    def origin(self) -> str:
        """The source in words, with file and line."""
        return f"{_WORDS[self.source]} {self.location or ''}".strip()


_WORDS = {
    ValueSource.STACK: "stack override",
    ValueSource.MANIFEST: "manifest",
    ValueSource.TEAM: "team default",
    ValueSource.FILE: "file",
    ValueSource.DEFAULT: "built-in default",
}


def effective_settings(fleet: Fleet) -> tuple[EffectiveValue, ...]:
    """Every setting of the fleet's stack, defaults included; overrides of agents aside."""
    settings = dict(_fields(fleet.environment))
    settings.pop("agents")
    reader = _ValueReader("", frozenset())
    return tuple(reader.values(settings, (), fleet.settings_origin))


def effective_values(agent: DeclaredAgent, fleet: Fleet) -> tuple[EffectiveValue, ...]:
    """Every value of an agent's metadata and spec, defaults included, in the models' order.

    Of a tool server, its own: not those of the agent that it is rendered as. What is optional and
    absent is left out, and so are defaults that mean nothing to an agent of this type. Law: as a
    manifest, the values stand for the same agent.
    """
    team = fleet.team_of(agent)
    handed_down = frozenset(_places(team.origin)) if team else frozenset()
    reader = _ValueReader(agent.source, handed_down)
    metadata = [*reader.values(agent.agent.metadata, ("metadata",), agent.origin.child("metadata"))]
    if agent.agent.metadata.namespace is None:
        metadata.insert(1, _stack_namespace(agent, fleet))
    server = (
        fleet.find(McpServer, agent.name, agent.namespace) if agent.kind != AGENT_KIND else None
    )
    declared = server.spec if server else agent.spec
    spec = reader.values(declared, ("spec",), agent.origin.child("spec"))
    return _meaningful((*metadata, *spec), agent.kind)


def tree_of(values: Iterable[EffectiveValue]) -> dict[str, Any]:
    """The values at their paths, in mappings and lists."""
    tree: dict[str, Any] = {}
    for each in values:
        node: Any = tree
        for part, after in pairwise(each.path):
            empty: Any = [] if isinstance(after, int) else {}
            if isinstance(node, list) and isinstance(part, int):
                if part == len(node):
                    node.append(empty)
                node = node[part]
            else:
                node = node.setdefault(part, empty)
        if isinstance(node, list):
            node.append(each.value)
        else:
            node[each.path[-1]] = each.value
    return tree


def _meaningful(values: tuple[EffectiveValue, ...], kind: str) -> tuple[EffectiveValue, ...]:
    """The values without defaults that would be refused, were they written: they mean nothing."""
    head = {"apiVersion": API_VERSION, "kind": kind}
    while isinstance(
        errors := validate(KINDS[kind], head | tree_of(values), Origin("", 0, 0)), list
    ):
        refused = [error.path for error in errors]
        kept = tuple(each for each in values if not _is_default_below(each, refused))
        if len(kept) == len(values):
            break
        values = kept
    return values


def _is_default_below(value: EffectiveValue, paths: Iterable[str]) -> bool:
    return value.source is ValueSource.DEFAULT and any(
        value.field == path or value.field.startswith((f"{path}.", f"{path}[")) for path in paths
    )


def _stack_namespace(agent: DeclaredAgent, fleet: Fleet) -> EffectiveValue:
    path, setting = ("metadata", "namespace"), fleet.settings_origin.child("namespace")
    if setting is None:
        return EffectiveValue(path, agent.namespace, ValueSource.DEFAULT, None)
    return EffectiveValue(path, agent.namespace, ValueSource.STACK, setting.value_location)


def _places(origin: Origin) -> Iterator[SourceLocation]:
    """Every place inside one manifest."""
    yield origin.value_location
    children = origin.children or ()
    for child in children.values() if isinstance(children, dict) else children:
        yield from _places(child)


class _ValueReader:
    """Walks the model and the origins side by side."""

    def __init__(self, manifest: str, handed_down: frozenset[SourceLocation]) -> None:
        self._manifest = manifest
        self._handed_down = handed_down

    def values(
        self,
        value: Any,  # noqa: ANN401 - any part of a model
        path: tuple[Segment, ...],
        origin: Origin | None,
    ) -> Iterator[EffectiveValue]:
        entries = list(_entries(value))
        if not entries:
            if value is not None:
                plain = list(value) if isinstance(value, tuple) else value
                yield self._value(path, plain, origin)
            return
        for key, below in entries:
            yield from self.values(below, (*path, key), origin.child(key) if origin else None)

    def _value(
        self,
        path: tuple[Segment, ...],
        value: Any,  # noqa: ANN401 - any scalar
        origin: Origin | None,
    ) -> EffectiveValue:
        if origin is None:
            return EffectiveValue(path, value, ValueSource.DEFAULT, None)
        place = origin.value_location
        return EffectiveValue(path, value, self._source(place), place)

    def _source(self, place: SourceLocation) -> ValueSource:
        if place in self._handed_down:
            return ValueSource.TEAM
        if place.file == self._manifest:
            return ValueSource.MANIFEST
        is_of_stack = place.file.startswith(f"{STACKS_FOLDER}/")
        return ValueSource.STACK if is_of_stack else ValueSource.FILE


def _entries(value: Any) -> Iterator[tuple[Segment, Any]]:  # noqa: ANN401 - any part of a model
    if isinstance(value, BaseModel):
        yield from _fields(value)
    elif isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _fields(model: BaseModel) -> Iterator[tuple[str, Any]]:
    for name, field in type(model).model_fields.items():
        yield field.alias or name, getattr(model, name)
