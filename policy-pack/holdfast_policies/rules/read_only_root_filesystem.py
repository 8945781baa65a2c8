"""Containers cannot change their own image."""

from collections.abc import Iterator

from holdfast_policies.api import (
    NOT_WINDOWS,
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    containers,
    field_path,
    in_containers,
    said,
    shown,
)


def check(container: Container, _: Settings) -> Iterator[Breach]:
    """A container that may write to its root; on Windows the field does not exist."""
    read_only = container.security_context.get("readOnlyRootFilesystem")
    if read_only is not True and not container.pod.is_windows:
        path = field_path(container.path, "securityContext", "readOnlyRootFilesystem")
        yield Breach(path, got=shown(read_only), required="true")


RULE = Rule(
    id="read-only-root-filesystem",
    title="Read-only root file system",
    description="A container may change its own programs",
    rationale="What an agent was talked into writing must not be there to run after a restart.",
    remedy="set securityContext.readOnlyRootFilesystem to true; mount an emptyDir to write to",
    source="https://kubernetes.io/docs/tasks/configure-pod-container/security-context/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=("N", "SI-7", "ASI05", "ASI10"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=containers(check),
    admission=Admission(
        (
            in_containers(
                "c.value.?securityContext.?readOnlyRootFilesystem.orValue(false) != true"
                f" && {NOT_WINDOWS}",
                "securityContext.readOnlyRootFilesystem",
                "true",
                said("c.value.?securityContext.?readOnlyRootFilesystem"),
            ),
        )
    ),
)
