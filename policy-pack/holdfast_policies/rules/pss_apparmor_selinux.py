"""Neither AppArmor nor SELinux may be switched off or widened."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Pod,
    Rule,
    Settings,
    Severity,
    all_of,
    breaches,
    containers,
    each,
    either,
    field_path,
    in_contexts,
    in_force_since,
    key_path,
    listed,
    mapping,
    pods,
    said,
    shown,
    text,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD, is_in_force_since

_PROFILES = ("RuntimeDefault", "Localhost")
_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_SELINUX_TYPES = ("container_t", "container_init_t", "container_kvm_t", "container_engine_t")
"""The last one since 1.31."""


def check_apparmor(context: Mapping[str, Any], path: str) -> Iterator[Breach]:
    """An AppArmor profile outside the list, in a security context."""
    if context.get("appArmorProfile") is not None:
        profile = mapping(context["appArmorProfile"]).get("type")
        if profile not in _PROFILES:
            place = field_path(path, "securityContext", "appArmorProfile", "type")
            yield Breach(place, got=shown(profile), required=either(_PROFILES))


def check_selinux(context: Mapping[str, Any], path: str, settings: Settings) -> Iterator[Breach]:
    """An SELinux type outside the list, or a user or role, in a security context."""
    options = mapping(context.get("seLinuxOptions"))
    types = _SELINUX_TYPES if is_in_force_since(31, settings) else _SELINUX_TYPES[:-1]
    place = field_path(path, "securityContext", "seLinuxOptions")
    if options.get("type") and options["type"] not in types:
        required = f"{either(types)} or nothing"
        yield Breach(field_path(place, "type"), got=shown(options["type"]), required=required)
    for name in ("user", "role"):
        if options.get(name):
            yield Breach(field_path(place, name), got=shown(options[name]), required="nothing")


def check_container(container: Container, settings: Settings) -> Iterator[Finding]:
    """Both in one container."""
    yield from check_apparmor(container.security_context, container.path)
    yield from check_selinux(container.security_context, container.path, settings)


def check_pod(pod: Pod, settings: Settings) -> Iterator[Finding]:
    """Both in the pod, and AppArmor profiles set by the annotations of old."""
    yield from check_apparmor(pod.security_context, pod.spec_path)
    yield from check_selinux(pod.security_context, pod.spec_path, settings)
    annotations = mapping(pod.metadata.get("annotations"))
    path = field_path(pod.path, "metadata", "annotations")

    def check_annotation(key: str, _: str) -> Iterator[Breach]:
        value = text(annotations.get(key))
        if value not in ("", "runtime/default") and not value.startswith("localhost/"):
            required = '"runtime/default" or "localhost/…"'
            yield Breach(key_path(path, key), got=shown(value), required=required)

    yield from each(
        [key for key in annotations if key.startswith(_ANNOTATION)], "", check_annotation
    )


RULE = Rule(
    id="pss-apparmor-selinux",
    title="AppArmor and SELinux kept",
    description="A pod switches AppArmor off, or sets SELinux options it must not set",
    rationale="They hold a process that has broken out of its container.",
    remedy="remove the setting, so that the runtime's own profile applies",
    source=STANDARD,
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "SC-39", "N"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=all_of(pods(check_pod), containers(check_container)),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_contexts(
                "s.value.?appArmorProfile.orValue(null) != null"
                f' && !(s.value.appArmorProfile.?type.orValue("") in {listed(_PROFILES)})',
                "appArmorProfile.type",
                either(_PROFILES),
                said("s.value.appArmorProfile.?type"),
            ),
            in_contexts(
                '!(s.value.?seLinuxOptions.?type.orValue("") in variables.types)',
                "seLinuxOptions.type",
                "a type of the list, or nothing",
                said("s.value.?seLinuxOptions.?type"),
            ),
            in_contexts(
                '["user", "role"].exists(n, s.value.?seLinuxOptions[?n].orValue("") != "")',
                "seLinuxOptions",
                "neither user nor role",
            ),
            breaches(
                "variables.annotations",
                "k",
                f'k.startsWith("{_ANNOTATION}")'
                ' && !(variables.annotations[k] in ["", "runtime/default"])'
                ' && !variables.annotations[k].startsWith("localhost/")',
                '"annotation " + k',
                '"runtime/default" or "localhost/…"',
                "variables.annotations[k]",
            ),
        ),
        variables=(
            (
                "types",
                f'["", {listed(_SELINUX_TYPES[:-1])[1:-1]}]'
                f" + ({in_force_since(31)} ? {listed(_SELINUX_TYPES[-1:])} : [])",
            ),
            ("annotations", "variables.template.?metadata.?annotations.orValue({})"),
        ),
    ),
)
