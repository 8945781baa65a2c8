"""Only volume types that stay within the cluster's own storage may be mounted."""

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
    in_volumes,
    listed,
    volumes,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD

_ALLOWED = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)


def check(volume: Mapping[str, Any], path: str, _: Settings) -> Iterator[Breach]:
    """A volume of another type; one that names no type is an emptyDir by default."""
    types = [name for name in volume if name != "name" and volume[name] is not None]
    if types and not any(name in _ALLOWED for name in types):
        yield Breach(path, got=", ".join(types), required=f"one of {', '.join(_ALLOWED)}")


RULE = Rule(
    id="pss-volume-types",
    title="Known volume types only",
    description="A pod mounts a volume of a type outside the restricted list",
    rationale="Other types reach the node or storage outside the cluster, past its access control.",
    remedy="use a PersistentVolumeClaim, whose class an administrator has chosen",
    source=STANDARD,
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-R", "CM-7"),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=volumes(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_volumes(
                f'v.value.exists(k, k != "name") && !v.value.exists(k, k in {listed(_ALLOWED)})',
                "",
                f"one of {', '.join(_ALLOWED)}",
                'v.value.map(k, k).filter(k, k != "name").join(", ")',
            ),
        )
    ),
)
