"""No container may run privileged."""

from collections.abc import Iterator

from holdfast_policies.api import (
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
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD


def check(container: Container, _: Settings) -> Iterator[Breach]:
    """A privileged container."""
    if container.security_context.get("privileged") is True:
        path = field_path(container.path, "securityContext", "privileged")
        yield Breach(path, got="true", required="false or nothing")


RULE = Rule(
    id="pss-privileged",
    title="No privileged containers",
    description="A container runs privileged, with every right of the node",
    rationale="An agent that runs code a model wrote needs one step from here to the whole node.",
    remedy="remove privileged or set it to false",
    source=STANDARD,
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "C5.2.2", "N", "AC-6", "ASI05"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_containers(
                "c.value.?securityContext.?privileged.orValue(false) == true",
                "securityContext.privileged",
                "false or nothing",
            ),
        )
    ),
)
