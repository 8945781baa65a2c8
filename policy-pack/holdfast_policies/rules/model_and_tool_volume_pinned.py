"""Weights and tools that are mounted or fetched are the ones that were reviewed."""

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
    matches,
    said,
    shown,
    text,
    volumes,
)
from holdfast_policies.facts.images import parse_image


def check(volume: Mapping[str, Any], path: str, _: Settings) -> Iterator[Breach]:
    """An image volume whose reference may mean another image tomorrow; a Git volume, always."""
    image = volume.get("image")
    if image is not None:
        reference = mapping(image).get("reference")
        if not parse_image(text(reference)).is_pinned:
            yield Breach(
                field_path(path, "image", "reference"),
                got=shown(reference),
                required="name@sha256:<64 hex digits>",
            )
    attributes = mapping(mapping(volume.get("csi")).get("volumeAttributes"))
    for key in ("image", "reference", "ref", "imageReference", "modelRef", "artifact"):
        named = text(attributes.get(key))
        if named and not parse_image(named).is_pinned:
            place = field_path(path, "csi", "volumeAttributes", key)
            yield Breach(place, got=shown(named), required="name@sha256:<64 hex digits>")
    if volume.get("gitRepo") is not None:
        remedy = "use an image volume by digest, or an init container that checks a digest"
        got = "a clone of whatever the repository holds"
        yield Breach(field_path(path, "gitRepo"), got, "no gitRepo volume", remedy)


_REFERENCE = 'v.value.image.?reference.orValue("")'


RULE = Rule(
    id="model-and-tool-volume-pinned",
    title="Mounted artefacts by digest",
    description="Weights, skills or tools are mounted by a name that may mean something else",
    rationale="Whoever can push the tag changes how the agent thinks, without any deployment.",
    remedy="refer to the artefact by its digest",
    source="https://kubernetes.io/docs/tasks/configure-pod-container/image-volumes/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SI-7",
        "LLM03",
        "LLM04",
        "ASI04",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=volumes(check),
    admission=Admission(
        (
            in_volumes(
                "v.value.?image.orValue(null) != null"
                f" && !{matches(_REFERENCE, '^[^@]*@sha256:[0-9a-f]{64}$')}",
                "image.reference",
                "name@sha256:<64 hex digits>",
                said("v.value.image.?reference"),
            ),
            in_volumes("v.value.?gitRepo.orValue(null) != null", "gitRepo", "no gitRepo volume"),
        ),
        differs="what a CSI driver is told to fetch is seen before that only",
    ),
)
