"""No pod may run as a process of a Windows node."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.cel import Admission, in_contexts
from holdfast_policies.finding import Breach
from holdfast_policies.kinds import POD_KINDS
from holdfast_policies.parts import all_of, containers, pods
from holdfast_policies.pod_security import PSS_VERSION, STANDARD
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Container, Pod, field_path, mapping


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
