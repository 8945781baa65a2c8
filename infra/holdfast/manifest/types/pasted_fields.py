"""Fields of a Pod, a Deployment or an object read from a cluster that a manifest has otherwise.

Who writes a first manifest copies from a Deployment. The field that is spelled most alike is then
a wrong one: `initContainers` is no remedy for `containers`.
"""

from collections.abc import Collection, Mapping
from typing import Final

_WRITTEN_BY_SERVER: Final = "remove it: the API server writes it"
_ON_WORKLOAD: Final[Mapping[str, str]] = {
    "containers": (
        "an agent has one main container: write its image, command, env and resources under spec, "
        "others under sidecars; `holdfast agent import` converts a Deployment"
    ),
    "template": (
        "write the container's fields under spec; `holdfast agent import` converts a Deployment"
    ),
    "selector": "remove it: Holdfast sets the selector",
    "strategy": "use rollout.strategy",
    "imagePullPolicy": "remove it: an image that is pinned by its digest is pulled once",
    "livenessProbe": "use probes.liveness",
    "readinessProbe": "use probes.readiness",
    "startupProbe": "use probes.startup",
    "volumes": "use storage for volumes, config for files, secrets for Secrets",
    "volumeMounts": "set mountPath in storage, config or secrets",
    "serviceAccountName": "remove it for an account of its own, or use security.serviceAccount",
    "schedule": 'use schedules, such as [{cron: "0 2 * * *"}]',
}
_ON_METADATA: Final = dict.fromkeys(
    ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"),
    _WRITTEN_BY_SERVER,
)


def remedy_for_pasted(name: str, known: Collection[str]) -> str:
    """What to write instead of a field of Kubernetes; empty for any other field.

    Args:
        name: The unknown field.
        known: The fields that may stand in its place.
    """
    if {"image", "model", "prompt"} <= set(known):
        return _ON_WORKLOAD.get(name, "")
    if {"annotations", "labels", "namespace"} <= set(known):
        return _ON_METADATA.get(name, "")
    if name == "status" and "metadata" in known:
        return _WRITTEN_BY_SERVER
    if name in {"cpu", "memory"} and {"limits", "requests"} <= set(known):
        return f"use requests.{name} and limits.{name}"
    return ""
