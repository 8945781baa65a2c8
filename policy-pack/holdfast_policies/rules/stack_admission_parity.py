"""What preview refuses, the cluster refuses as well."""

from collections.abc import Iterator

from holdfast_policies.api import (
    ADMISSION_BINDING,
    ADMISSION_POLICY,
    ONLY_AGENTS,
    PACK_VERSION,
    POD_KINDS,
    Breach,
    Environment,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Stack,
    items,
    mapping,
    text,
)

VERSION_ANNOTATION = "holdfast.dev/policy-version"
INSTALLED_BY = Parameter(
    name="installed_by",
    description="What installs the admission policies outside the stack; empty: the stack itself.",
    schema={"type": "string"},
    default="",
)
DENY = Parameter(
    name="deny_required",
    description="Whether their bindings must deny, not only warn.",
    schema={"type": "boolean"},
    default=True,
    defaults={Environment.STAGING: False, Environment.DEV: False},
)


def check(stack: Stack, settings: Settings) -> Iterator[Finding]:
    """A stack with workloads whose generated admission policies are absent, old or not denying."""
    if settings["installed_by"] or not stack.workloads:
        return
    versions = {
        text(mapping(policy.metadata.get("annotations")).get(VERSION_ANNOTATION)): policy.name
        for policy in stack.of_kind(ADMISSION_POLICY)
    }
    if PACK_VERSION not in versions:
        old = ", ".join(sorted(version for version in versions if version))
        got = f"those of version {old}" if old else "none"
        yield Breach("", f"admission policies: {got}", f"those of version {PACK_VERSION}")
        return
    bindings = stack.of_kind(ADMISSION_BINDING)
    actions = {action for each in bindings for action in items(each.spec.get("validationActions"))}
    if not bindings or (settings["deny_required"] and "Deny" not in actions):
        got = "no binding that denies" if bindings else "no binding"
        yield Breach("", got, "a binding with validationActions Deny")


RULE = Rule(
    id="stack-admission-parity",
    title="The same rules in the cluster",
    description="The cluster does not hold clients to the rules of this preview",
    rationale="kubectl, an operator or a stolen token come past every preview.",
    remedy="set holdfast:policy: {admission: {}}, or say by installed_by who installs the policies",
    source="https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "C5.2.1",
        "CM-6",
        "SI-7",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS | {ADMISSION_POLICY, ADMISSION_BINDING},
    applies_to=ONLY_AGENTS,
    check_stack=check,
    parameters=(
        INSTALLED_BY,
        DENY,
    ),
    not_in_cluster="admission policies are not asked about admission policies",
)
