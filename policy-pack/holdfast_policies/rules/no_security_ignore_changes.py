"""Nothing that matters for security is left out when changes are looked for."""

import re
from collections.abc import Iterator

from holdfast_policies.finding import Breach
from holdfast_policies.kinds import ANY_KIND
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject

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
        if path in ("", "*") or any(_overlap(path, each) for each in guarded):
            yield Breach(
                ignored, got="a change that would be ignored", required="every change seen"
            )


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
    not_in_cluster="what an update ignores is an option of the program",
)
