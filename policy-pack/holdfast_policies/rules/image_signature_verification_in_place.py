"""Somebody checks who has signed an image before it runs."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Breach,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    UndeterminedError,
    items,
    mapping,
)

VERIFIED_BY = Parameter(
    name="verified_by",
    description="What verifies images outside the stack, such as a policy of the whole cluster.",
    schema={"type": "string"},
    default="",
)
_ALWAYS = frozenset(
    {
        Kind("policies.kyverno.io", "ImageValidatingPolicy"),
        Kind("policy.sigstore.dev", "ClusterImagePolicy"),
    }
)
_KYVERNO = frozenset({Kind("kyverno.io", "ClusterPolicy"), Kind("kyverno.io", "Policy")})


def check(stack: Stack, settings: Settings) -> Iterator[Finding]:
    """A stack with pods in which nothing verifies images, when nothing outside does."""
    if settings["verified_by"] or not stack.workloads:
        return
    unknown: UndeterminedError | None = None
    for subject in stack.subjects:
        try:
            if _verifies(subject):
                return
        except UndeterminedError as signal:
            unknown = signal
    if unknown is not None:
        raise unknown
    yield Breach("", got="no policy that verifies images", required="one, or verified_by")


def _verifies(subject: Subject) -> bool:
    if subject.kind in _ALWAYS:
        return True
    rules = items(subject.spec.get("rules")) if subject.kind in _KYVERNO else []
    return any(mapping(rule).get("verifyImages") for rule in rules)


RULE = Rule(
    id="image-signature-verification-in-place",
    title="Signatures are checked",
    description="Nothing checks who has signed the images of the stack",
    rationale="A digest says that an image is the same, a signature whose it is.",
    remedy="add a policy that verifies images, or name the one of the cluster as verified_by",
    source="https://docs.sigstore.dev/policy-controller/overview/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "CM-14",
        "SR-11",
        "C5.5.1",
        "ASI04",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS | _ALWAYS | _KYVERNO,
    check_stack=check,
    parameters=(VERIFIED_BY,),
    not_in_cluster="it asks whether another policy is there, and a policy sees one object only",
)
