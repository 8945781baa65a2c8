"""What only deleting an object and making it again can change, and where that is no way. Pure.

Source: the validation of updates in Kubernetes 1.36.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from holdfast.drift.finding import Finding
from holdfast.kube.paths import format_path

NEVER_REPLACED: Final = frozenset(
    {"PersistentVolumeClaim", "Namespace", "CustomResourceDefinition", "PersistentVolume"}
)
"""With these goes what they hold: volumes, everything inside, every object of the kind."""

ORPHANING: Final = frozenset({"StatefulSet"})
"""Replaced without their pods, which the new object takes over."""

_UNCHANGEABLE: Final[dict[str, re.Pattern[str]]] = {
    "Deployment": re.compile(r"spec\.selector"),
    "DaemonSet": re.compile(r"spec\.selector"),
    "ReplicaSet": re.compile(r"spec\.selector"),
    "StatefulSet": re.compile(
        r"spec\.(?!replicas|template|updateStrategy|persistentVolumeClaimRetentionPolicy"
        r"|minReadySeconds|ordinals|revisionHistoryLimit)"
    ),
    "Job": re.compile(r"spec\.(selector|template|completions|completionMode|podFailurePolicy)"),
    "RoleBinding": re.compile(r"roleRef"),
    "ClusterRoleBinding": re.compile(r"roleRef"),
    "Service": re.compile(r"spec\.clusterIPs?\b"),
    "PersistentVolumeClaim": re.compile(r"spec\.(?!resources|volumeAttributesClassName)"),
    "Secret": re.compile(r"(type|immutable)$"),
    "ConfigMap": re.compile(r"immutable$"),
    "StorageClass": re.compile(r"(provisioner|parameters|reclaimPolicy|volumeBindingMode)"),
}


def needs_replacement(finding: Finding, live: Mapping[str, Any]) -> str:
    """Why a field cannot be changed in place; empty when it can."""
    path = format_path(finding.path)
    unchangeable = _UNCHANGEABLE.get(finding.ref.kind)
    if unchangeable is not None and unchangeable.match(path):
        return "cannot be changed in place"
    if live.get("immutable") is True and path.startswith(("data", "binaryData")):
        return "the live object is immutable and cannot be changed in place"
    return ""
