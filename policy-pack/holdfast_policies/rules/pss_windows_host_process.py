"""No pod may run as a process of a Windows node."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Fix,
    Level,
    Levels,
    Pod,
    Rule,
    Settings,
    Severity,
    all_of,
    containers,
    field_path,
    in_contexts,
    mapping,
    pods,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD


def check_context(context: Mapping[str, Any], path: str) -> Iterator[Breach]:
    """A security context that asks for a process of the node."""
    if mapping(context.get("windowsOptions")).get("hostProcess") is True:
        place = field_path(path, "securityContext", "windowsOptions", "hostProcess")
        yield Breach(place, got="true", required="false or nothing")


def check_container(container: Container, _: Settings) -> Iterator[Breach]:
    """One container."""
    yield from check_context(container.security_context, container.path)


def check_pod(pod: Pod, _: Settings) -> Iterator[Breach]:
    """The pod itself."""
    yield from check_context(pod.security_context, pod.spec_path)


RULE = Rule(
    id="pss-windows-host-process",
    title="No host processes on Windows",
    description="A pod runs as a process of its Windows node",
    rationale="Such a process has every right of the node.",
    remedy="remove windowsOptions.hostProcess or set it to false",
    source=STANDARD,
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "C5.2.11", "AC-6"),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=all_of(pods(check_pod), containers(check_container)),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_contexts(
                "s.value.?windowsOptions.?hostProcess.orValue(false) == true",
                "windowsOptions.hostProcess",
                "false or nothing",
            ),
        )
    ),
)
