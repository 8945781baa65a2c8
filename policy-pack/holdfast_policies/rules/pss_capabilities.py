"""Containers drop all capabilities and add none but the one for low ports."""

from collections.abc import Iterator

from holdfast_policies.api import (
    NOT_WINDOWS,
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
    either,
    field_path,
    in_containers,
    items,
    listed,
    mapping,
    shown,
)
from holdfast_policies.facts.pod_security import PSS_LEVEL, PSS_VERSION, STANDARD, is_restricted

_BASELINE = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_RESTRICTED = frozenset(["NET_BIND_SERVICE"])


def check(container: Container, settings: Settings) -> Iterator[Breach]:
    """Capabilities added beyond the list and, at the restricted level, ALL not dropped."""
    capabilities = mapping(container.security_context.get("capabilities"))
    path = field_path(container.path, "securityContext", "capabilities")
    if is_restricted(settings) and container.pod.is_windows:
        return
    if is_restricted(settings) and "ALL" not in items(capabilities.get("drop")):
        dropped = shown(capabilities.get("drop"))
        yield Breach(field_path(path, "drop"), got=dropped, required='a list with "ALL"')
    allowed = _RESTRICTED if is_restricted(settings) else _BASELINE
    added = [name for name in items(capabilities.get("add")) if name not in allowed]
    if added:
        required = f"none but {either(sorted(allowed))}"
        remedy = f"remove {', '.join(str(name) for name in added)}"
        yield Breach(field_path(path, "add"), got=shown(added), required=required, remedy=remedy)


_CAPABILITIES = "c.value.?securityContext.?capabilities"


RULE = Rule(
    id="pss-capabilities",
    title="Capabilities dropped",
    description="A container keeps or adds Linux capabilities that it must not have",
    rationale="Each capability is a part of the rights of root; an agent's process needs none.",
    remedy='set securityContext.capabilities.drop to ["ALL"]',
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B/R", "C5.2.8-10", "N", "AC-6"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(PSS_VERSION, PSS_LEVEL),
    admission=Admission(
        (
            in_containers(
                f'{RESTRICTED} && {NOT_WINDOWS} && !("ALL" in {_CAPABILITIES}.?drop.orValue([]))',
                "securityContext.capabilities.drop",
                'a list with "ALL"',
            ),
            in_containers(
                f"!({RESTRICTED} && !({NOT_WINDOWS}))"
                f" && {_CAPABILITIES}.?add.orValue([]).exists(a, !(a in variables.allowed))",
                "securityContext.capabilities.add",
                "none but those allowed",
                f'{_CAPABILITIES}.?add.orValue([]).filter(a, !(a in variables.allowed)).join(", ")',
            ),
        ),
        variables=(
            (
                "allowed",
                f"{RESTRICTED} ? {listed(sorted(_RESTRICTED))} : {listed(sorted(_BASELINE))}",
            ),
        ),
    ),
)
