"""Who owns the fields of live objects, and whether a GitOps engine delivers them. Pure.

Two tools that revert the same field overwrite each other, so what only an engine applies is left to
it. Clients choose the names of managers: what the stack's own record says we deployed stays ours,
whatever the name of a writer.

Source: Flux, kustomize-controller and helm-controller (the field manager is the controller's name);
Argo CD, "Server-Side Apply" (`argocd-controller`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.cause.attribution import is_deployer
from holdfast.kube.managed_fields import owned_paths, read_managed_fields
from holdfast.kube.objects import ObjectRef, reference_of
from holdfast.kube.paths import format_path

ENGINES: Final = {
    "argocd-controller": "Argo CD",
    "helm-controller": "Flux",
    "kustomize-controller": "Flux",
}
"""Field manager to the engine that applies under it."""


def engine_of(live: Mapping[str, Any]) -> str:
    """Field manager of the engine that delivers an object; empty for ourselves or unknown."""
    entries = read_managed_fields(live).of_object
    if any(entry.operation == "Apply" and is_deployer(entry.manager) for entry in entries):
        return ""
    return next((entry.manager for entry in entries if entry.manager in ENGINES), "")


def left_to(engine: str) -> str:
    """Why something is left to an engine, and what to do instead."""
    return (
        f"{ENGINES[engine]} manages it ({engine}) and reverts it: change what it deploys, or "
        "suspend it"
    )


HOLDFAST = "Holdfast"


@dataclass(frozen=True)
class Owner:
    """One manager of one object.

    Attributes:
        operation: `Apply` or `Update`.
        time: RFC 3339: its latest change of anything.
        paths: What it owns, sorted; values below `status` are no part of it.
    """

    manager: str
    operation: str
    time: str
    paths: tuple[str, ...]

    @property
    def deliverer(self) -> str:
        """Who delivers declarations under this name: Holdfast or an engine; empty for others."""
        return HOLDFAST if is_deployer(self.manager) else ENGINES.get(self.manager, "")


@dataclass(frozen=True)
class OwnedObject:
    """One live object and its owners, by name."""

    ref: ObjectRef
    owners: tuple[Owner, ...]

    @property
    def deliverers(self) -> tuple[str, ...]:
        """Managers that apply the object as a whole; two of them share it."""
        return tuple(each.manager for each in self.owners if each.deliverer)


def owned_object(live: Mapping[str, Any]) -> OwnedObject:
    """The owners of a live object; its status, and what names no field, are left out."""
    owners = [
        Owner(entry.manager, entry.operation, entry.time, tuple(sorted(map(format_path, paths))))
        for entry in read_managed_fields(live).of_object
        for paths in [[path for path in owned_paths(entry.fields) if path[0] != "status"]]
        if paths
    ]
    by_name = sorted(owners, key=lambda each: (each.manager, each.operation))
    return OwnedObject(reference_of(live), tuple(by_name))


def owned_objects(live: Iterable[Mapping[str, Any]]) -> list[OwnedObject]:
    """The same of many, in order."""
    return sorted(map(owned_object, live), key=lambda each: each.ref)
