"""Volumes that survive restarts: claims of the agent's own, and how the pod mounts them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.kube.objects import KubeObject
from holdfast.kube.scalars import parse_quantity
from holdfast.manifest.agent.state import StorageVolume
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject


class Conflict(NamedTuple):
    """A field of a volume that does not fit the claim that exists."""

    field: str
    expected: str
    found: str


SNAPSHOT_GROUP = "snapshot.storage.k8s.io"


def render_storage(
    meta: AgentMetadata, storage: Sequence[StorageVolume], snapshots: Mapping[str, str]
) -> list[RenderedObject]:
    """One claim a volume, but for those that mount an existing one.

    Args:
        meta: The agent's marks.
        storage: The volumes.
        snapshots: Volume to the VolumeSnapshot that fills its claim.
    """
    return [
        RenderedObject(
            meta.name,
            f"claim-{volume.name}",
            _claim(meta, volume, snapshots.get(volume.name)),
            is_protected=volume.retain,
            is_retained=volume.retain,
        )
        for volume in storage
        if volume.existing_claim is None
    ]


def volume_name(volume: StorageVolume) -> str:
    """Name of the pod's volume."""
    return f"storage-{volume.name}"


def claim_name(meta: AgentMetadata, volume: StorageVolume) -> str:
    """Name of the claim behind a volume."""
    return volume.existing_claim or f"{meta.name}-{volume.name}"


def claim_spec(volume: StorageVolume) -> KubeObject:
    """What is asked of the cluster for a volume."""
    spec: KubeObject = {
        "accessModes": list(volume.access_modes),
        "resources": {"requests": {"storage": volume.size}},
    }
    if volume.storage_class_name:
        spec["storageClassName"] = volume.storage_class_name
    return spec


def claim_conflicts(
    volume: StorageVolume, declared: KubeObject, live: KubeObject
) -> list[Conflict]:
    """What a claim that exists would have to lose its data for.

    Args:
        volume: The declared volume.
        declared: Spec of the claim as rendered.
        live: Spec of the claim as it is.
    """
    conflicts = []
    wanted = declared["resources"]["requests"]["storage"]
    has = live["resources"]["requests"]["storage"]
    if parse_quantity(wanted) < parse_quantity(has):
        expected = "expected at least the size that the claim has: a claim cannot shrink"
        conflicts.append(Conflict("size", expected, f"{wanted}, the claim has {has}"))
    if volume.allow_replacement:
        return conflicts
    fixed = {
        "storageClassName": declared.get("storageClassName", live.get("storageClassName")),
        "accessModes": declared["accessModes"],
    }
    for name, value in fixed.items():
        if value != live.get(name):
            expected = "cannot be changed without recreating the claim and losing its data"
            conflicts.append(Conflict(name, expected, f"{value}, the claim has {live.get(name)}"))
    source = declared.get("dataSource")
    if source and source["name"] != (live.get("dataSource") or {}).get("name"):
        expected = "fills a new claim only, and this one exists already"
        conflicts.append(Conflict("restoreFrom", expected, source["name"]))
    return conflicts


def _claim(meta: AgentMetadata, volume: StorageVolume, snapshot: str | None) -> KubeObject:
    source = {"apiGroup": SNAPSHOT_GROUP, "kind": "VolumeSnapshot", "name": snapshot}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta.metadata(volume.name),
        "spec": claim_spec(volume) | ({"dataSource": source} if snapshot else {}),
    }
