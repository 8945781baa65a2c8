"""Every container runs under a seccomp profile."""

from collections.abc import Iterator

from holdfast_policies.api import (
    NOT_WINDOWS,
    POD_KINDS,
    RESTRICTED,
    Admission,
    Breach,
    Container,
    Edit,
    Finding,
    Fix,
    Level,
    Levels,
    Pod,
    Rule,
    Settings,
    Severity,
    Subject,
    Undecided,
    UndeterminedError,
    all_of,
    containers,
    containers_at,
    either,
    field_path,
    in_containers,
    in_contexts,
    listed,
    mapping,
    patch_at,
    patch_containers,
    pods,
    said,
    shown,
    spec_steps,
)
from holdfast_policies.facts.pod_security import PSS_LEVEL, PSS_VERSION, STANDARD, is_restricted

_PROFILES = ("RuntimeDefault", "Localhost")
_STEPS = ("securityContext", "seccompProfile", "type")
_DEFAULT = {"type": "RuntimeDefault"}


_IN_CEL = '{"type": dyn("RuntimeDefault")}'
_LACKS = (
    f"({RESTRICTED} && {NOT_WINDOWS}"
    " && variables.podSpec.?securityContext.?seccompProfile.orValue(null) == null"
    " && variables.containers.exists(c,"
    " c.value.?securityContext.?seccompProfile.orValue(null) == null))"
)


def _is_wrong(holder: str) -> str:
    """CEL: whether the profile that a pod or container sets is none."""
    own = f"{holder}.?securityContext.?seccompProfile"
    return (
        f'({own}.orValue(null) != null && !({own}.?type.orValue("") in {listed(_PROFILES)})'
        f" && !({RESTRICTED} && !({NOT_WINDOWS})))"
    )


def check_pod(pod: Pod, settings: Settings) -> Iterator[Finding]:
    """A profile of the pod that is none."""
    if pod.security_context.get("seccompProfile") is None:
        return
    profile = mapping(pod.security_context["seccompProfile"]).get("type")
    if profile not in _PROFILES and not (is_restricted(settings) and pod.is_windows):
        path = field_path(pod.spec_path, *_STEPS)
        yield Breach(path, got=shown(profile), required=either(_PROFILES))


def check_container(container: Container, settings: Settings) -> Iterator[Finding]:
    """A profile of a container that is none; restricted: none in the container and the pod."""
    pod, path = container.pod, field_path(container.path, *_STEPS)
    own = container.security_context.get("seccompProfile")
    if own is not None:
        profile, required = mapping(own).get("type"), either(_PROFILES)
        is_breach = profile not in _PROFILES
    else:
        profile, required = None, f"{either(_PROFILES)}, here or in the pod"
        is_breach = is_restricted(settings) and pod.security_context.get("seccompProfile") is None
    if is_breach and not (is_restricted(settings) and pod.is_windows):
        yield Breach(path, got=shown(profile), required=required)


def remediate(subject: Subject, settings: Settings) -> Iterator[Edit]:
    """The runtime's profile: in a pod that has none or a bad one, in containers with a bad one."""
    pod = subject.pod
    if pod is None:
        return
    own = pod.security_context.get("seccompProfile")
    pods_own = mapping(own).get("type")
    lacks = own is None and is_restricted(settings) and any(_lacks(each) for each in pod.containers)
    if lacks or (own is not None and pods_own not in _PROFILES):
        yield Edit((*spec_steps(subject), *_STEPS[:-1]), _DEFAULT)
    for steps, container in containers_at(subject):
        profile = container.security_context.get("seccompProfile")
        if profile is not None and mapping(profile).get("type") not in _PROFILES:
            yield Edit((*steps, *_STEPS[:-1]), _DEFAULT)


def _lacks(container: Container | Undecided) -> bool:
    if isinstance(container, Undecided):
        raise UndeterminedError(container.path)
    return container.security_context.get("seccompProfile") is None


RULE = Rule(
    id="pss-seccomp",
    title="Seccomp profile set",
    description="A container runs without a seccomp profile",
    rationale="Without one every system call of the kernel is open to code a model wrote.",
    remedy="set securityContext.seccompProfile.type to RuntimeDefault in the pod",
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.REMEDIATE),
    frameworks=("P-B/R", "C5.7.2", "SC-39", "ASI05"),
    fix=Fix.YES,
    remediate=remediate,
    kinds=POD_KINDS,
    check=all_of(pods(check_pod), containers(check_container)),
    parameters=(PSS_VERSION, PSS_LEVEL),
    admission=Admission(
        (
            in_contexts(
                "s.value.?seccompProfile.orValue(null) != null"
                f' && !(s.value.seccompProfile.?type.orValue("") in {listed(_PROFILES)})'
                f" && !({RESTRICTED} && !({NOT_WINDOWS}))",
                "seccompProfile.type",
                either(_PROFILES),
                said("s.value.seccompProfile.?type"),
            ),
            in_containers(
                f"{RESTRICTED} && {NOT_WINDOWS}"
                " && c.value.?securityContext.?seccompProfile.orValue(null) == null"
                " && variables.podSpec.?securityContext.?seccompProfile.orValue(null) == null",
                "securityContext.seccompProfile.type",
                f"{either(_PROFILES)}, here or in the pod",
            ),
        ),
        patches=(
            patch_at(
                'variables.podPointer + "/securityContext"',
                f"{_LACKS} && variables.podSpec.?securityContext.orValue(null) == null",
                "{}",
            )
            + " + "
            + patch_at(
                'variables.podPointer + "/securityContext/seccompProfile"',
                f"{_LACKS} || {_is_wrong('variables.podSpec')}",
                _IN_CEL,
            )
            + " + "
            + patch_containers(
                _is_wrong("c.value"), ("securityContext", "seccompProfile"), _IN_CEL
            ),
        ),
    ),
)
