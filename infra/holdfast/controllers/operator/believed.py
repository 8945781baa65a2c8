"""Which resources of a cluster count: those that the stack's last update has written. Pure.

Laws: a resource counts if its digest is the one that the StackDeclaration lists. One that somebody
has altered or deleted counts as it was deployed, as long as this process has seen it so. A resource
that the declaration does not list never counts, whatever its labels, its name or its owner.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.drift.cause.owners import engine_of
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, NamespacedName, ObjectRef, mapping_at
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.publish.resource_interface import STACK_DECLARATION_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.render.objects.stack_declaration import (
    declaration_digest,
    declaration_name,
    deployed_name,
    resource_digest,
    resource_key,
)

UPDATE_SECONDS: Final = 900.0
"""An update that is not complete after so long has been given up."""

_MISSING: Final = "the declaration of the stack is not there"
UNDECLARED: Final = "the stack's last update has not declared it: it is ignored"
ALTERED: Final = "it is not as the stack's last update has declared it"


@dataclass(frozen=True)
class TrustedDeclaration:
    """What the deployer has written.

    Attributes:
        mode: Who applies the agents' objects.
        resources: Key of a resource to its digest.
        is_deployed: All of it is there: no update is under way, and none was given up.
        is_leaving: The stack is being taken away, or was never complete.
        refs: Where it is.
        engine: Field manager of the GitOps engine that has delivered it; empty for none.
    """

    mode: str = ""
    resources: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    is_deployed: bool = False
    is_leaving: bool = False
    refs: tuple[ObjectRef, ...] = ()
    engine: str = ""

    def is_current(self, read: Callable[[ObjectRef], KubeObject | None]) -> bool:
        """Whether the deployer has declared nothing else since; asks the server.

        Raises:
            ClusterError: it cannot be read.
        """
        if not self.refs:
            return False
        try:
            return read_stack_declaration(self.refs, read) == self
        except InputError:
            return False


def declaration_refs(stack: str) -> tuple[ObjectRef, ...]:
    """Where a stack's declaration is, and the mark of its completion."""
    names = (declaration_name(stack), deployed_name(stack))
    return tuple(ObjectRef("", STACK_DECLARATION_KIND, name, API_VERSION) for name in names)


def read_stack_declaration(
    refs: tuple[ObjectRef, ...], read: Callable[[ObjectRef], KubeObject | None]
) -> TrustedDeclaration:
    """A declaration, with the mark of its completion.

    Args:
        refs: Where both are.
        read: Finds an object.

    Raises:
        InputError: there is none.
    """
    declared, deployed = (read(each) for each in refs)
    if declared is None:
        raise InputError(_MISSING, remedy="run `pulumi up` with this version of Holdfast")
    spec = mapping_at(declared, "spec")
    mode, resources = str(spec.get("mode") or ""), dict(spec.get("resources") or {})
    digest = declaration_digest(mode, resources)
    is_there = deployed is not None and not _is_going(deployed)
    return TrustedDeclaration(
        mode,
        resources,
        digest,
        is_deployed=is_there and mapping_at(deployed or {}, "spec").get("digest") == digest,
        is_leaving=not is_there or _is_going(declared),
        refs=refs,
        engine=engine_of(declared),
    )


@dataclass(frozen=True)
class Believed:
    """The resources that count.

    Attributes:
        resources: As they were deployed.
        altered: Keys of resources that somebody has altered or deleted, as they are to be.
        pending: Keys of resources that an update under way has not written yet.
        strangers: Agents that do not count, and why.
    """

    declaration: TrustedDeclaration
    resources: tuple[KubeObject, ...] = ()
    altered: Mapping[str, KubeObject] = field(default_factory=dict)
    pending: frozenset[str] = frozenset()
    strangers: Mapping[NamespacedName, tuple[str, ...]] = field(default_factory=dict)

    def altered_agents(self) -> dict[NamespacedName, KubeObject]:
        """Agents to be put back."""
        found = (each for each in self.altered.values() if each["kind"] == AGENT_KIND)
        return {_place(each): each for each in found}

    def is_pending(self, place: NamespacedName) -> bool:
        """Whether an update has not reached an agent, or something that all agents share."""
        own = f"{AGENT_KIND} {place[0]}/{place[1]}"
        return any(key == own or not key.startswith(f"{AGENT_KIND} ") for key in self.pending)


@dataclass(frozen=True)
class _SeenResource:
    digest: str
    resource: KubeObject


class ResourceFilter:
    """Remembers what was deployed, so that nobody else can change it."""

    def __init__(self) -> None:
        self._kept: dict[str, _SeenResource] = {}

    def believed(
        self, declaration: TrustedDeclaration, resources: Iterable[KubeObject]
    ) -> Believed:
        """Those of the live resources that count."""
        live = {resource_key(each): each for each in resources}
        counting: list[KubeObject] = []
        altered: dict[str, KubeObject] = {}
        strangers: dict[NamespacedName, tuple[str, ...]] = {}
        for key, one in live.items():
            if one["kind"] != AGENT_KIND or key in declaration.resources:
                continue
            if key in self._kept and _is_going(one):
                counting.append(self._going(key, one))  # its objects are to go with it
            else:
                strangers[_place(one)] = (UNDECLARED,)
        pending: set[str] = set()
        for key, digest in declaration.resources.items():
            found = live.get(key)
            if found is not None and resource_digest(found, declaration.mode) == digest:
                self._kept[key] = _SeenResource(digest, found)
            kept = self._kept.get(key)
            if kept is None or kept.digest != digest:
                pending.add(key)
            elif found is not kept.resource:
                altered[key] = kept.resource
            if kept is not None:
                counting.append(kept.resource)
            elif found is not None and found["kind"] == AGENT_KIND:
                strangers[_place(found)] = (ALTERED,)
        # What is declared no more is remembered until it is gone: its objects go with it.
        self._kept = {
            key: kept
            for key, kept in self._kept.items()
            if key in declaration.resources or key in live
        }
        frozen = frozenset(pending)
        return Believed(declaration, tuple(counting), altered, frozen, strangers)

    def _going(self, key: str, live: KubeObject) -> KubeObject:
        """A resource that is being deleted: the live one with what it declared."""
        kept = self._kept[key].resource
        return {**live, "spec": kept["spec"]}


def _is_going(resource: Mapping[str, Any]) -> bool:
    return bool(mapping_at(resource, "metadata").get("deletionTimestamp"))


def _place(resource: Mapping[str, Any]) -> NamespacedName:
    return str(resource["metadata"]["namespace"]), str(resource["metadata"]["name"])
