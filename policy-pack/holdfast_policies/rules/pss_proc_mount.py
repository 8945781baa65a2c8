"""Containers see the masked /proc."""

from collections.abc import Iterator

from holdfast_policies.api import (
    OWN_USERS,
    POD_KINDS,
    RESTRICTED,
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
from holdfast_policies.facts.pod_security import (
    PSS_LEVEL,
    PSS_VERSION,
    STANDARD,
    has_own_users,
    is_restricted,
)


def check(container: Container, settings: Settings) -> Iterator[Breach]:
    """An unmasked /proc; at the baseline level allowed to pods with users of their own."""
    proc_mount = container.security_context.get("procMount")
    if proc_mount is None or proc_mount == "Default":
        return
    if is_restricted(settings) or not has_own_users(container.pod, settings):
        path = field_path(container.path, "securityContext", "procMount")
        yield Breach(path, got=shown(proc_mount), required='"Default" or nothing')


RULE = Rule(
    id="pss-proc-mount",
    title="Masked /proc",
    description="A container sees the unmasked /proc of the kernel",
    rationale="The masked paths of /proc tell about, and let one change, the kernel of the node.",
    remedy="remove procMount",
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B/R", "SC-39"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(PSS_VERSION, PSS_LEVEL),
    admission=Admission(
        (
            in_containers(
                'c.value.?securityContext.?procMount.orValue("Default") != "Default"'
                f" && ({RESTRICTED} || !{OWN_USERS})",
                "securityContext.procMount",
                '"Default" or nothing',
                said("c.value.?securityContext.?procMount"),
            ),
        )
    ),
)
