"""What the next update of an object does about a finding: the risk of drift for a deployment. Pure.

An update that changes nothing in an object sends nothing and leaves its drift. One that changes it
takes over what `kubectl` wrote, without a word in the preview of Pulumi; what another manager or
the scale subresource owns ends in a conflict unless the object is forced; what is not declared
stays while another manager owns it.

Source: pulumi-kubernetes 4.27, server-side apply, each answer tried on a real API server; the
validation of updates in Kubernetes 1.36.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.finding import DriftClass, ExpectedBy, Finding, NextUpdate
from holdfast.kube.managed_fields import ManagerEntry
from holdfast.kube.objects import mapping_at
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


_TAKEN_OVER: Final = re.compile(r"^(kubectl.*|before-first-apply)$")
_FORCE: Final = "pulumi.com/patchForce"
_OF_OBJECTS: Final = {
    DriftClass.MISSING: NextUpdate.FAILS,
    DriftClass.TERMINATING: NextUpdate.FAILS,
    DriftClass.RECREATED: NextUpdate.OVERWRITES,
    DriftClass.UNMANAGED: NextUpdate.KEEPS,
}
"""Of findings about whole objects. An update of what is gone ends in `not found`."""


def next_update_of_object(drift_class: DriftClass, *, is_recorded: bool) -> NextUpdate:
    """What the next update does about a whole object.

    Args:
        drift_class: One of those of whole objects.
        is_recorded: The last update recorded it: declared no more, it is deleted by the next one.
    """
    if drift_class is DriftClass.UNMANAGED and is_recorded:
        return NextUpdate.DELETES
    return _OF_OBJECTS[drift_class]


def next_update_of(
    finding: Finding,
    owners: Sequence[ManagerEntry],
    desired: Mapping[str, Any],
    live: Mapping[str, Any],
) -> NextUpdate:
    """What the next update of the object does about a finding.

    Args:
        finding: About the object or one of its fields.
        owners: Entries of managedFields that own the field; none for whole objects.
        desired: The declaration.
        live: The object as it is.
    """
    if finding.drift_class in _OF_OBJECTS:
        return _OF_OBJECTS[finding.drift_class]
    if finding.expected_by is ExpectedBy.DECLARATION and needs_replacement(finding, live):
        is_changeable = finding.ref.kind in {"ConfigMap", "Secret"}
        return NextUpdate.REPLACES if is_changeable else NextUpdate.FAILS
    strangers = [entry for entry in owners if not is_deployer(entry.manager)]
    is_ours = all(_is_taken_over(entry) for entry in strangers)
    if finding.expected_by is not ExpectedBy.DECLARATION:
        return NextUpdate.OVERWRITES if strangers and is_ours else NextUpdate.KEEPS
    if is_ours or mapping_at(desired, "metadata", "annotations").get(_FORCE) == "true":
        return NextUpdate.OVERWRITES
    return NextUpdate.CONFLICTS


def _is_taken_over(entry: ManagerEntry) -> bool:
    return not entry.subresource and bool(_TAKEN_OVER.match(entry.manager))
