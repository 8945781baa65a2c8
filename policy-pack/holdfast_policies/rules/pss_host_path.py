"""No pod may mount a directory or socket of its node."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    field_path,
    in_volumes,
    mapping,
    said,
    shown,
    text,
    volumes,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD

_RUNTIME_SOCKETS = ("docker.sock", "containerd.sock", "crio.sock", "cri-dockerd.sock")


def check(volume: Mapping[str, Any], path: str, _: Settings) -> Iterator[Breach]:
    """A hostPath volume; one that is a container runtime's socket is named as such."""
    if volume.get("hostPath") is None:
        return
    host_path = text(mapping(volume["hostPath"]).get("path"))
    is_socket = host_path.endswith(_RUNTIME_SOCKETS)
    got = (
        f"{shown(host_path)}, the socket of the container runtime"
        if is_socket
        else shown(host_path)
    )
    yield Breach(field_path(path, "hostPath"), got=got, required="no hostPath volume")


RULE = Rule(
    id="pss-host-path",
    title="No paths of the node",
    description="A pod mounts a path of its node",
    rationale="Files and sockets of the node are a way out of the container and into other pods.",
    remedy="use an emptyDir, a PersistentVolumeClaim, a ConfigMap or a Secret volume",
    source=STANDARD,
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "C5.2.12", "N", "AC-6", "ASI05"),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=volumes(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_volumes(
                "v.value.?hostPath.orValue(null) != null",
                "hostPath",
                "no hostPath volume",
                said("v.value.?hostPath.?path"),
            ),
        )
    ),
)
