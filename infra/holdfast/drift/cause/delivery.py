"""Who delivers a live object: ourselves, or a GitOps engine that also puts its edits back.

Two who put the same field back fight over it. So what an engine alone applies is left to it. Names
of managers are chosen by their clients: what the stack's own record says we deployed stays ours,
whatever name somebody writes under.

Source: Flux, kustomize-controller and helm-controller (field manager is the controller's name);
Argo CD, "Server-Side Apply" (`argocd-controller`).
"""

from collections.abc import Mapping
from typing import Any, Final

from holdfast.drift.cause.attribution import is_deployer
from holdfast.kube.managed_fields import read_managed_fields

ENGINES: Final = {
    "argocd-controller": "Argo CD",
    "helm-controller": "Flux",
    "kustomize-controller": "Flux",
}
"""Field manager to the engine that applies under it."""


def engine_of(live: Mapping[str, Any]) -> str:
    """Field manager of the engine that delivers an object; empty when we do, or nobody known."""
    entries = read_managed_fields(live).of_object
    if any(entry.operation == "Apply" and is_deployer(entry.manager) for entry in entries):
        return ""
    return next((entry.manager for entry in entries if entry.manager in ENGINES), "")


def left_to(engine: str) -> str:
    """Why something is left to an engine, and what to do instead."""
    return (
        f"{ENGINES[engine]} delivers it ({engine}) and puts it back: change what it delivers, or "
        "suspend it"
    )
