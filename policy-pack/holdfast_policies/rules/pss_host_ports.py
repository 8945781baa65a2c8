"""No container may take a port of its node."""

from collections.abc import Iterator

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
    shown,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD


def check_port(port: object, path: str) -> Iterator[Breach]:
    """A port of the node; 0 is the same as none."""
    host_port = mapping(port).get("hostPort")
    if host_port:
        yield Breach(field_path(path, "hostPort"), got=shown(host_port), required="no hostPort")


def check(container: Container, _: Settings) -> Iterator[Finding]:
    """Each port of the node that a container takes."""
    path = field_path(container.path, "ports")
    yield from each(container.value.get("ports"), path, check_port, key="")


RULE = Rule(
    id="pss-host-ports",
    title="No ports of the node",
    description="A container takes a port of its node",
    rationale="A port of the node is reachable from outside and is bound by no network policy.",
    remedy="remove hostPort and reach the pod through a Service",
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "C5.2.13", "N", "SC-7"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_containers(
                "c.value.?ports.orValue([]).exists(p, p.?hostPort.orValue(0) != 0)",
                "ports",
                "no hostPort",
            ),
        ),
        differs="with hostNetwork the API server itself makes every port of a pod a hostPort",
    ),
)
