"""No container may run as root."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    OWN_USERS,
    POD_KINDS,
    Admission,
    Breach,
    Check,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Pod,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    containers,
    field_path,
    in_containers,
    in_contexts,
    in_pod,
    pods,
    said,
    shown,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD, has_own_users


def _user_breach(context: Mapping[str, Any], path: str) -> Iterator[Breach]:
    user = context.get("runAsUser")
    if user == 0 and user is not False:
        place = field_path(path, "securityContext", "runAsUser")
        remedy = "remove runAsUser or set it to the user of the image"
        yield Breach(place, got="0", required="a user other than root", remedy=remedy)


def check_pod(pod: Pod, _: Settings) -> Iterator[Finding]:
    """A pod that says it runs as root."""
    if pod.security_context.get("runAsNonRoot") is False:
        path = field_path(pod.spec_path, "securityContext", "runAsNonRoot")
        yield Breach(path, got="false", required="true")
    yield from _user_breach(pod.security_context, pod.spec_path)


def check_container(container: Container, _: Settings) -> Iterator[Finding]:
    """A container that says it runs as root, or for which nobody says that it does not."""
    own = container.security_context.get("runAsNonRoot")
    if own is False or (own is None and container.pod.security_context.get("runAsNonRoot") is None):
        path = field_path(container.path, "securityContext", "runAsNonRoot")
        required = "true" if own is False else "true, here or in the pod"
        yield Breach(path, got=shown(own), required=required)
    yield from _user_breach(container.security_context, container.path)


def unless_own_users(check: Check) -> Check:
    """The check, but for pods whose root is not the node's root, which 1.35 allows."""

    def check_subject(subject: Subject, settings: Settings) -> Iterator[Finding]:
        findings = list(check(subject, settings))
        if findings and subject.pod is not None and not has_own_users(subject.pod, settings):
            yield from findings

    return check_subject


_NON_ROOT = "c.value.?securityContext.?runAsNonRoot"
_NON_ROOT_OF_POD = "variables.podSpec.?securityContext.?runAsNonRoot"


RULE = Rule(
    id="pss-run-as-non-root",
    title="Not root",
    description="A container may run as root",
    rationale="Root in a container is one fault of the kernel away from root on the node.",
    remedy="set securityContext.runAsNonRoot to true and use an image with a user of its own",
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-R", "C5.2.7", "N", "AC-6"),
    fix=Fix.PARTLY,
    kinds=POD_KINDS,
    check=unless_own_users(all_of(pods(check_pod), containers(check_container))),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_pod(
                f"{_NON_ROOT_OF_POD}.orValue(true) == false && !{OWN_USERS}",
                "securityContext.runAsNonRoot",
                "true",
                '"false"',
            ),
            in_containers(
                f"({_NON_ROOT}.orValue(true) == false"
                f" || {_NON_ROOT}.orValue(null) == null"
                f" && {_NON_ROOT_OF_POD}.orValue(null) == null) && !{OWN_USERS}",
                "securityContext.runAsNonRoot",
                "true, here or in the pod",
                said(_NON_ROOT),
            ),
            in_contexts(
                f"s.value.?runAsUser.orValue(1) == 0 && !{OWN_USERS}",
                "runAsUser",
                "a user other than root",
                '"0"',
            ),
        )
    ),
)
