"""An image is named by its digest, so that what runs is what was reviewed."""

import shlex
from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Environment,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    containers,
    field_path,
    in_containers,
    matches,
    said,
    shown,
    text,
)
from holdfast_policies.facts.images import parse_image

ACCEPT = Parameter(
    name="accept",
    description=(
        "What an image may be named by: a digest, or in an environment that builds its own images "
        "a tag that names a version, such as 1.4.2, but not latest or main."
    ),
    schema={"type": "string", "enum": ["digest", "version-tag"]},
    default="digest",
    defaults={Environment.DEV: "version-tag"},
)


def check(container: Container, settings: Settings) -> Iterator[Breach]:
    """An image that may mean something else tomorrow."""
    image = container.value.get("image")
    reference = parse_image(text(image))
    if reference.is_pinned:
        return
    accepts_tags = settings["accept"] == "version-tag"
    if accepts_tags and not reference.digest and reference.names_version:
        return
    required = "a tag that names a version, or @sha256:" if accepts_tags else "@sha256: and 64 hex"
    command = (
        f"; `docker buildx imagetools inspect {shlex.quote(text(image))}` prints the digest"
        if text(image)
        else ""
    )
    yield Breach(
        field_path(container.path, "image"),
        got=shown(image),
        required=required,
        remedy=f"pin the image by its digest{command}",
    )


_IMAGE = 'c.value.?image.orValue("")'


RULE = Rule(
    id="image-digest-pinned",
    title="Images pinned by digest",
    description="An image is named by a tag, which may mean something else tomorrow",
    rationale="A tag that moves changes an agent without a review, and differently on each node.",
    remedy="pin the image by its digest",
    source="https://kubernetes.io/docs/concepts/containers/images/#image-names",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("SI-7", "SR-4", "LLM03", "ASI04"),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(ACCEPT,),
    admission=Admission(
        (
            in_containers(
                f"!{matches(_IMAGE, '^[^@]*@sha256:[0-9a-f]{64}$')}"
                f' && !(variables.settings.accept == "version-tag"'
                f" && {matches(_IMAGE, '^[^@]*[^/@]*:[^@:/]*[0-9][^@:/]*$')})",
                "image",
                "an image by its digest",
                said("c.value.?image"),
            ),
        )
    ),
)
