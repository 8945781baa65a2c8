"""Which field of a manifest stands behind a field of a rendered object, and where it is written.

Found out by rendering again with one value changed at a time: the field that moves this path, and
the fewest others besides, is the one that declares it. A value that is nobody's but Holdfast's own
default has no field; the place is then that of the agent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeVar

from holdfast.errors import HoldfastError, SourceLocation
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent import AGENT_KIND
from holdfast.manifest.fleet import DeclaredAgent, Fleet
from holdfast.manifest.origin import Origin
from holdfast.render.agent import render_agent
from holdfast.render.declared import plan_fleet
from holdfast.render.field_variants import variants
from holdfast.render.leaves import leaves_of, tokens_of
from holdfast.render.marks import REVISION

T = TypeVar("T")
Identity = tuple[str, str, str, str]
Leaves = dict[tuple[Identity, Path], Any]

# What a value that validation would have refused may end in while it is rendered.
_NOT_RENDERABLE: Final = (HoldfastError, ValueError, KeyError, TypeError, AttributeError)
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
class Origins:
    """Origins of the objects of one stack; each agent is looked into when first asked about.

    Attributes:
        fleet: What the files declare.
        stack: Name of the stack.
    """

    fleet: Fleet
    stack: str
    _of_agents: dict[tuple[str, str], "_AgentOrigins"] = field(
        default_factory=dict, repr=False, compare=False
    )

    def declared_at(self, ref: ObjectRef, path: Path = ()) -> SourceLocation | None:
        """Place that declares a field of an object; None for objects that no agent stands behind.

        Args:
            ref: The object.
            path: Field path as findings have it; empty for the whole object. Of a field that is
                not rendered, the place of what is around it.
        """
        origin = self.origin_of(ref, path)
        return origin.location if origin else None

    def origin_of(self, ref: ObjectRef, path: Path = ()) -> FieldOrigin | None:
        """The same, with the field of the manifest."""
        if ref.kind == "Namespace":
            return self._of_namespace(ref.name)
        agent = self._owners.get(ref.identity)
        return None if agent is None else self._agent_origins(agent).origin_of(ref, path)

    def leaves_of(self, ref: ObjectRef) -> tuple[Path, ...]:
        """Every leaf of an agent's object, to be asked about one by one.

        Raises:
            KeyError: no agent stands behind the object.
        """
        return self._agent_origins(self._owners[ref.identity]).leaves_of(ref)

    @cached_property
    def _owners(self) -> Mapping[Identity, DeclaredAgent]:
        plan = plan_fleet(self.fleet, self.stack)
        agents = {(each.namespace, each.name): each for each in self.fleet.workloads}
        return {
            reference_of(item.manifest).identity: agents[each.marks.namespace, each.marks.name]
            for each in plan.agents
            if (each.marks.namespace, each.marks.name) in agents
            for item in render_agent(each)
        }

    def _agent_origins(self, agent: DeclaredAgent) -> "_AgentOrigins":
        key = (agent.namespace, agent.name)
        if key not in self._of_agents:
            self._of_agents[key] = _AgentOrigins(self.fleet, self.stack, agent)
        return self._of_agents[key]

    def _of_namespace(self, name: str) -> FieldOrigin | None:
        inside = (each for each in self.fleet.workloads if each.namespace == name)
        agent = next(inside, None)
        if agent is None:
            return None
        return _Source(agent.origin, ("metadata", "namespace")).found


@dataclass(frozen=True)
class _AgentOrigins:
    """Which value moves which leaf of one agent's objects."""

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
        named = _common(
            self._sources.get((ref.identity, ("metadata", "name")), []), self.agent.origin
        )
        if named is not None and named.is_written:
            return named
        return FieldOrigin(self.agent.origin.nearest(("metadata", "name")).key_location)

    def leaves_of(self, ref: ObjectRef) -> tuple[Path, ...]:
        """Every leaf of one object, by names of items where these have names."""
        return tuple(path for path, _ in leaves_of(self._objects[ref.identity]))

    def _namesake(self, path: Path) -> FieldOrigin | None:
        """Of what is not rendered: the manifest's field of the same name as its list or map."""
        names = [segment for segment in path if isinstance(segment, str)]
        for name in reversed(names[-2:]):
            if name in {"labels", "annotations"}:
                return _Source(self.agent.origin, ("metadata", name)).found
            if any(each.alias == name for each in type(self.agent.spec).model_fields.values()):
                return _Source(self.agent.origin, ("spec", name)).found
        return None

    @cached_property
    def _objects(self) -> Mapping[Identity, KubeObject]:
        return _rendered(self.fleet, self.stack, self.agent)

    @cached_property
    def _sources(self) -> Mapping[tuple[Identity, Path], list["_Source"]]:
        """The values behind each leaf: those that move the fewest other leaves with it."""
        base = _leaves(self._objects)
        fewest: dict[tuple[Identity, Path], int] = {}
        best: dict[tuple[Identity, Path], list[_Source]] = {}
        for source, fleet in self._variants():
            try:
                objects = _rendered(fleet, self.stack, self.agent)
            except _NOT_RENDERABLE:
                continue
            # An object that is called otherwise, or is no longer there, says nothing of its parts.
            shared = {key: one for key, one in self._objects.items() if key in objects}
            changed = _leaves({key: objects[key] for key in shared})
            moved = {key for key in base if key[0] in shared and _differs(key, base, changed)}
            moved |= {(key, ("metadata", "name")) for key in self._objects.keys() - shared.keys()}
            for key in moved:
                if len(moved) < fewest.get(key, len(moved) + 1):
                    fewest[key], best[key] = len(moved), [source]
                elif len(moved) == fewest[key]:
                    best[key].append(source)
        return best

    def _variants(self) -> Iterator[tuple["_Source", Fleet]]:
        """The fleet with one value changed: of the agent, of what it shares, of the stack."""
        own, fleet = self.agent, self.fleet
        # A tool server's values are among those of the servers.
        for path, manifest in variants(own.agent) if own.kind == AGENT_KIND else ():
            changed = replace(own, agent=manifest)
            yield _Source(own.origin, path), _with_agent(fleet, own, changed)
        for index, model in enumerate(fleet.model_configs):
            for path, one in variants(model.spec, ("spec",)):
                models = _with_item(fleet.model_configs, index, replace(model, spec=one))
                yield _Source(model.origin, path), replace(fleet, model_configs=models)
        for index, server in enumerate(fleet.mcp_servers):
            for path, other in variants(server.spec, ("spec",)):
                servers = _with_item(fleet.mcp_servers, index, replace(server, spec=other))
                yield _Source(server.origin, path), replace(fleet, mcp_servers=servers)
        for path, environment in variants(fleet.environment):
            if path[0] != "agents":
                settings = _Source(fleet.settings_origin, path)
                yield settings, replace(fleet, environment=environment)


@dataclass(frozen=True)
class _Source:
    """One value of a file."""

    origin: Origin
    path: Path

    @property
    def found(self) -> FieldOrigin:
        nearest = self.origin
        for part in self.path:
            below = nearest.child(part)
            if below is None:
                return FieldOrigin(nearest.key_location, self.path)
            nearest = below
        return FieldOrigin(nearest.key_location, self.path, is_written=True)


def _common(sources: list[_Source], own: Origin, *, is_around: bool = False) -> FieldOrigin | None:
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
    return _Source(first.origin, path).found if len(path) > 1 else None


def _with_item(items: tuple[T, ...], index: int, new: T) -> tuple[T, ...]:
    return (*items[:index], new, *items[index + 1 :])


def _with_agent(fleet: Fleet, own: DeclaredAgent, changed: DeclaredAgent) -> Fleet:
    return replace(fleet, agents=tuple(changed if each is own else each for each in fleet.agents))


def _rendered(fleet: Fleet, stack: str, agent: DeclaredAgent) -> dict[Identity, KubeObject]:
    """Objects of one agent, by the identities they have without any change."""
    index = next(i for i, each in enumerate(fleet.workloads) if _is_same(each, agent))
    plan = plan_fleet(fleet, stack).agents[index]
    return {reference_of(item.manifest).identity: item.manifest for item in render_agent(plan)}


def _is_same(one: DeclaredAgent, other: DeclaredAgent) -> bool:
    return one.origin is other.origin


def _leaves(objects: Mapping[Identity, KubeObject]) -> Leaves:
    return {
        (identity, path): value
        for identity, one in objects.items()
        for path, value in leaves_of(one)
        if path != _NOT_INFORMATIVE
    }


def _differs(key: tuple[Identity, Path], one: Leaves, other: Leaves) -> bool:
    absent = object()
    return bool(one.get(key, absent) != other.get(key, absent))
