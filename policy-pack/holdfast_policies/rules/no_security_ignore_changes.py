"""Nothing that matters for security is left out when changes are looked for."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    ANY_KIND,
    ROLLOUT,
    SERVICE,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    Undecided,
    UndeterminedError,
    mapping,
    text,
)

_MOVED_BY = "argo-rollouts.argoproj.io/managed-by-rollouts"
_SELECTOR = "spec.selector"
_SERVICES_OF = {
    "blueGreen": ("activeService", "previewService"),
    "canary": ("stableService", "canaryService"),
}
_INDEX = re.compile(r"\[[^\[\]]*\]")
_POD_FIELDS = (
    "securityContext",
    "serviceAccountName",
    "automountServiceAccountToken",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "hostUsers",
    "runtimeClassName",
    "volumes",
    *(
        f"{section}.{name}"
        for section in ("containers", "initContainers")
        for name in (
            "image",
            "command",
            "args",
            "env",
            "envFrom",
            "lifecycle",
            "securityContext",
            "volumeMounts",
        )
    ),
)
_BY_KIND = {
    "NetworkPolicy": ("spec",),
    "CiliumNetworkPolicy": ("spec",),
    "Service": ("spec.type", "spec.selector", "spec.externalIPs"),
    "Role": ("rules",),
    "ClusterRole": ("rules", "aggregationRule"),
    "RoleBinding": ("subjects", "roleRef"),
    "ClusterRoleBinding": ("subjects", "roleRef"),
    "ServiceAccount": ("automountServiceAccountToken", "metadata.annotations"),
    "Namespace": ("metadata.labels",),
    "ConfigMap": ("data",),
    "Secret": ("data", "stringData"),
}


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """Paths of ignoreChanges that are, hold or lie within a guarded one."""
    if subject.options is None:
        return
    pod = subject.pod
    if not subject.options.ignored_changes:
        return
    guarded = _BY_KIND.get(subject.kind.name, ())
    if pod is not None:
        guarded = tuple(f"{pod.spec_path}.{name}" for name in _POD_FIELDS)
    for ignored in subject.options.ignored_changes:
        path = _INDEX.sub("", ignored).replace(".*", "")
        if ignored == _SELECTOR and _is_moved(subject):
            continue  # the rules of the stack look for who moves it
        if path in ("", "*") or any(_overlap(path, each) for each in guarded):
            yield Breach(
                ignored, got="a change that would be ignored", required="every change seen"
            )


def check_stack(stack: Stack, _: Settings) -> Iterator[Finding]:
    """A Service that says a Rollout moves its selector, and no Rollout of the stack does."""
    for service in stack.of_kind(SERVICE):
        if service.options is None or _SELECTOR not in service.options.ignored_changes:
            continue
        try:
            is_moved = _is_moved(service)
            rollouts = stack.near(ROLLOUT, service.namespace)
            if is_moved and not any(service.name in _moved_services(each) for each in rollouts):
                got = "a change that would be ignored, and no Rollout that makes it"
                yield Breach(_SELECTOR, got, "every change seen", subject=service)
        except UndeterminedError as signal:
            yield Undecided(signal.path, service)


def _is_moved(subject: Subject) -> bool:
    """Whether a Service says that Argo Rollouts writes its selector."""
    annotations = mapping(subject.metadata.get("annotations"))
    return subject.kind == SERVICE and bool(text(annotations.get(_MOVED_BY)))


def _moved_services(rollout: Subject) -> Iterator[str]:
    """Names of the Services that lead to the versions of a Rollout."""
    strategy = mapping(rollout.spec.get("strategy"))
    for way, fields in _SERVICES_OF.items():
        yield from (text(mapping(strategy.get(way)).get(name)) for name in fields)


def _overlap(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


RULE = Rule(
    id="no-security-ignore-changes",
    title="No blind spots",
    description="A change of something that matters for security would be ignored",
    rationale="What is ignored at every update is where a change stays unseen.",
    remedy="remove the path from ignoreChanges",
    source="https://www.pulumi.com/docs/iac/concepts/resources/options/ignorechanges/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "CM-3",
        "CM-5",
    ),
    fix=Fix.NO,
    kinds=frozenset({ANY_KIND}),
    check=check,
    check_stack=check_stack,
    not_in_cluster="what an update ignores is an option of the program",
)
