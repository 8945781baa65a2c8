"""No process may gain more rights than the one that started it."""

from collections.abc import Iterator

from holdfast_policies.api import (
    NOT_WINDOWS,
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Edit,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    containers,
    containers_at,
    field_path,
    in_containers,
    items,
    listed,
    mapping,
    patch_containers,
    said,
    shown,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD

_ADMIN = {"SYS_ADMIN", "CAP_SYS_ADMIN"}
"""With it, the API server does not take a container that rules escalation out."""


def check(container: Container, _: Settings) -> Iterator[Breach]:
    """A container that does not rule it out; unset means allowed."""
    allowed = container.security_context.get("allowPrivilegeEscalation")
    if allowed is not False and not container.pod.is_windows:
        path = field_path(container.path, "securityContext", "allowPrivilegeEscalation")
        yield Breach(path, got=shown(allowed), required="false")


def remediate(subject: Subject, _: Settings) -> Iterator[Edit]:
    """Ruled out in every container that the API server lets rule it out."""
    for steps, container in containers_at(subject):
        context = container.security_context
        added = items(mapping(context.get("capabilities")).get("add"))
        is_refused = context.get("privileged") is True or _ADMIN & set(map(str, added))
        if context.get("allowPrivilegeEscalation") is not False and not is_refused:
            yield Edit((*steps, "securityContext", "allowPrivilegeEscalation"), False)


RULE = Rule(
    id="pss-privilege-escalation",
    title="No privilege escalation",
    description="A container allows its processes to gain more rights than they started with",
    rationale="A set-user-ID program in the image would make an agent's process root.",
    remedy="set securityContext.allowPrivilegeEscalation to false",
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.REMEDIATE),
    frameworks=("P-R", "C5.2.6", "N", "AC-6"),
    fix=Fix.YES,
    remediate=remediate,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_containers(
                "c.value.?securityContext.?allowPrivilegeEscalation.orValue(true) == true"
                f" && {NOT_WINDOWS}",
                "securityContext.allowPrivilegeEscalation",
                "false",
                said("c.value.?securityContext.?allowPrivilegeEscalation"),
            ),
        ),
        patches=(
            patch_containers(
                "c.value.?securityContext.?allowPrivilegeEscalation.orValue(true) == true"
                " && c.value.?securityContext.?privileged.orValue(false) != true"
                " && !c.value.?securityContext.?capabilities.?add.orValue([])"
                f".exists(n, n in {listed(sorted(_ADMIN))})",
                ("securityContext", "allowPrivilegeEscalation"),
                "false",
            ),
        ),
    ),
)
