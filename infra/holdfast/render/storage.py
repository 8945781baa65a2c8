"""Volumes that survive restarts: claims of the agent's own, and how the pod mounts them."""

from collections.abc import Sequence

from holdfast.kube.objects import KubeObject
from holdfast.manifest.state import StorageVolume
from holdfast.render.marks import AgentMarks, RenderedObject


def render_storage(marks: AgentMarks, storage: Sequence[StorageVolume]) -> list[RenderedObject]:
    """One claim a volume, but for those that mount an existing one."""
    return [
        RenderedObject(
            marks.name,
            f"claim-{volume.name}",
            _claim(marks, volume),
            is_protected=volume.retain,
            is_retained=volume.retain,
        )
        for volume in storage
        if volume.existing_claim is None
    ]


def volume_name(volume: StorageVolume) -> str:
    """Name of the pod's volume."""
    return f"storage-{volume.name}"


def claim_name(marks: AgentMarks, volume: StorageVolume) -> str:
    """Name of the claim behind a volume."""
    return volume.existing_claim or f"{marks.name}-{volume.name}"


def claim_spec(volume: StorageVolume) -> KubeObject:
    """What is asked of the cluster for a volume."""
    spec: KubeObject = {
        "accessModes": list(volume.access_modes),
        "resources": {"requests": {"storage": volume.size}},
    }
    if volume.storage_class_name:
        spec["storageClassName"] = volume.storage_class_name
    return spec


def _claim(marks: AgentMarks, volume: StorageVolume) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": marks.metadata(volume.name),
        "spec": claim_spec(volume),
    }
