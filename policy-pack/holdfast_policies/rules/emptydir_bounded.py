"""Scratch space has a size."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Edit,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    field_path,
    in_volumes,
    items,
    mapping,
    patch_volumes,
    spec_steps,
    volumes,
)

DEFAULT_SIZE = Parameter(
    name="default_size",
    description="Size that level remediate sets.",
    schema={"type": "string", "pattern": r"[0-9.]+[A-Za-z]*", "examples": ["1Gi"]},
    default="1Gi",
)


def check(volume: Mapping[str, Any], path: str, _: Settings) -> Iterator[Breach]:
    """An emptyDir without sizeLimit; one in memory counts against the memory of the pod."""
    if volume.get("emptyDir") is None:
        return
    empty_dir = mapping(volume["emptyDir"])
    if empty_dir.get("sizeLimit") is None:
        what = "memory" if empty_dir.get("medium") == "Memory" else "disk of the node"
        yield Breach(
            field_path(path, "emptyDir", "sizeLimit"), f"all of the {what}", "a size, such as 64Mi"
        )


def remediate(subject: Subject, settings: Settings) -> Iterator[Edit]:
    """A size for every emptyDir that has none."""
    pod = subject.pod
    declared = items(pod.spec.get("volumes")) if pod is not None else []
    for index, volume in enumerate(declared):
        empty_dir = mapping(volume).get("emptyDir")
        if empty_dir is not None and mapping(empty_dir).get("sizeLimit") is None:
            steps = (*spec_steps(subject), "volumes", index, "emptyDir", "sizeLimit")
            yield Edit(steps, settings["default_size"])


RULE = Rule(
    id="emptydir-bounded",
    title="Scratch space bounded",
    description="A volume may take all scratch space of its node",
    rationale="A full disk evicts the pods of everyone on that node.",
    remedy="set emptyDir.sizeLimit",
    source="https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.REMEDIATE),
    frameworks=(
        "SC-6",
        "ASI08",
    ),
    fix=Fix.YES,
    remediate=remediate,
    kinds=POD_KINDS,
    check=volumes(check),
    admission=Admission(
        (
            in_volumes(
                "v.value.?emptyDir.orValue(null) != null"
                " && v.value.emptyDir.?sizeLimit.orValue(null) == null",
                "emptyDir.sizeLimit",
                "a size, such as 64Mi",
            ),
        ),
        patches=(
            patch_volumes(
                "c.value.?emptyDir.orValue(null) != null"
                " && c.value.emptyDir.?sizeLimit.orValue(null) == null",
                ("emptyDir", "sizeLimit"),
                "variables.settings.default_size",
            ),
        ),
    ),
    parameters=(DEFAULT_SIZE,),
)
