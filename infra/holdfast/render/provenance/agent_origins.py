"""Which field of a manifest stands behind a field of one agent's objects, and where it is written.

Found out by rendering again with one value changed at a time: the field that moves this path, and
the fewest others besides, is the one that declares it. A value that is nobody's but Holdfast's own
default has no field; the place is then that of the agent.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeVar

from holdfast.errors import HoldfastError, SourceLocation
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.kinds import McpServer, ModelConfig
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.marks import REVISION
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.planning import plan_workloads
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.provenance.field_variants import variants
from holdfast.render.provenance.flatten import leaves_of, tokens_of

T = TypeVar("T")
Leaves = dict[Path, Any]

# What a value that validation would have refused may end in while it is rendered.
_NOT_RENDERABLE: Final = (HoldfastError, ValueError, KeyError, TypeError, AttributeError)
_NAME: Final[Path] = ("metadata", "name")
_NOT_INFORMATIVE: Final = ("metadata", "annotations", REVISION)


@dataclass(frozen=True)
class FieldOrigin:
    """Where a field of an object is declared.

    Attributes:
        location: File, line and column; the stack's file where that overrides the manifest.
        path: Field of the manifest or setting of the stack; empty where none stands behind it.
        is_written: The field itself stands in the file; else its default holds, and the place is
            that of the nearest part around it.
    """

    location: SourceLocation
    path: Path = ()
    is_written: bool = False

    def __str__(self) -> str:
        return f"{self.location}: {format_path(self.path)}" if self.path else str(self.location)


@dataclass(frozen=True)
class AgentOrigins:
    """Which value moves which leaf of one agent's objects.

    Attributes:
        fleet: As much of it as the agent's rendering asks for.
    """

    fleet: Fleet
    stack: str
    agent: DeclaredAgent

    def origin_of(self, ref: ObjectRef, path: Path) -> FieldOrigin:
        """Origin of a field, or of the nearest one around it that something stands behind."""
        tokens = tokens_of(path, self._objects[ref.identity])
        if len(tokens) < len(path) and (namesake := self._namesake(path[: len(tokens) + 1])):
            return namesake
        is_around = len(tokens) < len(path)
        while tokens:
            sources = [
                source
                for (identity, leaf), found in self._sources.items()
                if identity == ref.identity and leaf[: len(tokens)] == tokens
                for source in found
            ]
            origin = _common(sources, self.agent.origin, is_around=is_around)
            if origin is not None:
                return origin
            tokens, is_around = tokens[:-1], True
        named = _common(self._sources.get((ref.identity, _NAME), []), self.agent.origin)
        if named is not None and named.is_written:
            return named
        return FieldOrigin(place_of(self.agent))

    def leaves_of(self, ref: ObjectRef) -> tuple[Path, ...]:
        """Every leaf of one object, by names of items where these have names."""
        return tuple(path for path, _ in leaves_of(self._objects[ref.identity]))

    def _namesake(self, path: Path) -> FieldOrigin | None:
        """Of what is not rendered: the manifest's field of the same name as its list or map."""
        names = [segment for segment in path if isinstance(segment, str)]
        for name in reversed(names[-2:]):
            if name in {"labels", "annotations"}:
                return OriginPath(self.agent.origin, ("metadata", name)).found
            for group in ("", "container", "pod"):
                part = getattr(self.agent.spec, group) if group else self.agent.spec
                if any(each.alias == name for each in type(part).model_fields.values()):
                    here = ("spec", group, name) if group else ("spec", name)
                    return OriginPath(self.agent.origin, here).found
        return None

    @cached_property
    def _objects(self) -> Mapping[Identity, KubeObject]:
        return {each.identity: each.manifest for each in self._items}

    @cached_property
    def _items(self) -> tuple[RenderedObject, ...]:
        return _rendered(self.fleet, self.stack, self.agent)

    @cached_property
    def _sources(self) -> Mapping[tuple[Identity, Path], list["OriginPath"]]:
        """The values behind each leaf: those that move the fewest other leaves with it."""
        base = {
            identity: {path: value for path, value in leaves_of(one) if path != _NOT_INFORMATIVE}
            for identity, one in self._objects.items()
        }
        fewest: dict[tuple[Identity, Path], int] = {}
        best: dict[tuple[Identity, Path], list[OriginPath]] = {}
        for source, fleet in self._variants():
            try:
                items = _rendered(fleet, self.stack, self.agent)
            except _NOT_RENDERABLE:
                continue
            moved = set(_moved(self._items, items, base))
            for key in moved:
                if len(moved) < fewest.get(key, len(moved) + 1):
                    fewest[key], best[key] = len(moved), [source]
                elif len(moved) == fewest[key]:
                    best[key].append(source)
        return best

    def _variants(self) -> Iterator[tuple["OriginPath", Fleet]]:
        """The fleet with one value changed: of the agent, of what it shares, of the stack."""
        own, fleet = self.agent, self.fleet
        # A tool server's values are among those of the servers.
        for path, manifest in variants(own.agent) if own.kind == AGENT_KIND else ():
            changed = replace(own, agent=manifest)
            yield OriginPath(own.origin, path), _with_agent(fleet, own, changed)
        for index, model in enumerate(fleet.of(ModelConfig)):
            for path, one in variants(model.spec, ("spec",)):
                models = _with_item(fleet.of(ModelConfig), index, replace(model, spec=one))
                yield OriginPath(model.origin, path), fleet.with_items(ModelConfig, models)
        for index, server in enumerate(fleet.of(McpServer)):
            for path, other in variants(server.spec, ("spec",)):
                servers = _with_item(fleet.of(McpServer), index, replace(server, spec=other))
                yield OriginPath(server.origin, path), fleet.with_items(McpServer, servers)
        for path, environment in variants(fleet.environment):
            if path[0] != "agents":
                settings = OriginPath(fleet.settings_origin, path)
                yield settings, replace(fleet, environment=environment)


@dataclass(frozen=True)
class OriginPath:
    """One value of a file."""

    origin: Origin
    path: Path

    @property
    def found(self) -> FieldOrigin:
        """Where it stands, or the nearest part around it that is written."""
        nearest = self.origin
        for part in self.path:
            below = nearest.child(part)
            if below is None:
                return FieldOrigin(nearest.key_location, self.path)
            nearest = below
        return FieldOrigin(nearest.key_location, self.path, is_written=True)


def place_of(agent: DeclaredAgent) -> SourceLocation:
    """Where an agent is named."""
    return agent.origin.nearest(("metadata", "name")).key_location


def _common(
    sources: list[OriginPath], own: Origin, *, is_around: bool = False
) -> FieldOrigin | None:
    """What several values have in common: their field, or the part around all of them.

    Values of the agent's own manifest count before those that it shares.

    Args:
        sources: Where the values are written.
        own: The agent's manifest.
        is_around: They stand beside what is looked for: only what is around them all is meant.
    """
    sources = [each for each in sources if each.origin is own] or sources
    if not sources:
        return None
    first, *others = sources
    path = first.path
    for other in others:
        if other.origin is not first.origin:
            return None
        length = next(
            (at for at, (a, b) in enumerate(zip(path, other.path, strict=False)) if a != b),
            min(len(path), len(other.path)),
        )
        path = path[:length]
    if is_around and any(path == each.path for each in sources):
        path = path[:-1]
    return OriginPath(first.origin, path).found if len(path) > 1 else None


def _with_item(items: tuple[T, ...], index: int, new: T) -> tuple[T, ...]:
    return (*items[:index], new, *items[index + 1 :])


def _with_agent(fleet: Fleet, own: DeclaredAgent, changed: DeclaredAgent) -> Fleet:
    return replace(fleet, agents=tuple(changed if each is own else each for each in fleet.agents))


def _rendered(fleet: Fleet, stack: str, agent: DeclaredAgent) -> tuple[RenderedObject, ...]:
    """Objects of one agent."""
    index = next(i for i, each in enumerate(fleet.workloads) if each.origin is agent.origin)
    return render_agent(plan_workloads(fleet, stack)[index])


def objects_of(plan: AgentPlan) -> dict[Identity, KubeObject]:
    """What an agent is rendered to, by identity."""
    return {reference_of(item.manifest).identity: item.manifest for item in render_agent(plan)}


def _moved(
    before: Iterable[RenderedObject],
    after: Iterable[RenderedObject],
    leaves: Mapping[Identity, Leaves],
) -> Iterator[tuple[Identity, Path]]:
    """Leaves of what was there before that are others now, or gone.

    An object that is called otherwise, or is no longer there, says nothing of its parts; one that
    is called by its content is still the same.
    """
    absent = object()
    others = {each.lasting_identity: each.manifest for each in after}
    for item in before:
        other = others.get(item.lasting_identity)
        if other is None:
            yield item.identity, _NAME
        elif other != item.manifest:
            changed = dict(leaves_of(other))
            for path, value in leaves[item.identity].items():
                if changed.get(path, absent) != value and not (item.content and path == _NAME):
                    yield item.identity, path
