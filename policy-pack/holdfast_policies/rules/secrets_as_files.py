"""Secrets are files: an environment is inherited by every child and printed by every crash."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    containers,
    each,
    field_path,
    in_containers,
    mapping,
)


def check(container: Container, _: Settings) -> Iterator[Finding]:
    """Variables that hold a Secret's key, or all of its keys."""

    def check_variable(variable: object, path: str) -> Iterator[Breach]:
        source = mapping(mapping(variable).get("valueFrom"))
        if source.get("secretKeyRef") is not None:
            place = field_path(path, "valueFrom", "secretKeyRef")
            yield Breach(place, got="a secret in the environment", required="a file")

    def check_source(source: object, path: str) -> Iterator[Breach]:
        if mapping(source).get("secretRef") is not None:
            place = field_path(path, "secretRef")
            yield Breach(place, got="all of a Secret in the environment", required="files")

    value = container.value
    if container.variables is None or any(map(_may_name_secret, container.variables)):
        yield from each(value.get("env"), field_path(container.path, "env"), check_variable)
    yield from each(value.get("envFrom"), field_path(container.path, "envFrom"), check_source, "")


def _may_name_secret(variable: Mapping[str, Any]) -> bool:
    """Whether a variable has its value from a Secret, or from what is not known yet."""
    source = variable.get("valueFrom")
    return isinstance(source, dict) and (
        type(source) is not dict or source.get("secretKeyRef") is not None
    )


_FROM_KEY = "e.?valueFrom.?secretKeyRef.orValue(null) != null"


RULE = Rule(
    id="secrets-as-files",
    title="Secrets as files",
    description="A secret stands in the environment of a process",
    rationale="Every tool that the agent starts inherits it, and a crash report holds it.",
    remedy="mount the Secret as a volume and read the file",
    source="https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "C5.4.1",
        "IA-5",
        "ASI03",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=containers(check),
    admission=Admission(
        (
            in_containers(
                f"c.value.?env.orValue([]).exists(e, {_FROM_KEY})",
                "env",
                "a file instead of a secret in the environment",
                f'c.value.env.filter(e, {_FROM_KEY}).map(e, e.name).join(", ")',
            ),
            in_containers(
                "c.value.?envFrom.orValue([]).exists(e, e.?secretRef.orValue(null) != null)",
                "envFrom",
                "files instead of all of a Secret in the environment",
            ),
        )
    ),
)
