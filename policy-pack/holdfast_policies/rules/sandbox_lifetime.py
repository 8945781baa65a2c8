"""A sandbox ends, and nothing of it stays."""

from collections.abc import Iterator

from holdfast_policies.api import (
    SANDBOX,
    SANDBOX_CLAIM,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    field_path,
    in_object,
    listed,
    mapping,
    said,
    shown,
)

_DELETING = ("Delete", "DeleteForeground")


def check_end(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Sandbox or a claim of one that has no end."""
    if subject.kind == SANDBOX:
        path, bounds = "spec", {"shutdownTime": subject.spec.get("shutdownTime")}
        if subject.pod is not None:
            # A length of life instead of a moment of death: the pod's own deadline.
            bounds["deadline"] = subject.pod.spec.get("activeDeadlineSeconds")
    else:
        lifecycle = mapping(subject.spec.get("lifecycle"))
        path = "spec.lifecycle"
        bounds = {name: lifecycle.get(name) for name in ("shutdownTime", "ttlSecondsAfterFinished")}
    if not any(bound is not None for bound in bounds.values()):
        yield Breach(field_path(path, "shutdownTime"), "nothing", "a time at which it ends")


def check_policy(subject: Subject, _: Settings) -> Iterator[Breach]:
    """What ends but stays, with everything that it has seen."""
    is_sandbox = subject.kind == SANDBOX
    holder = subject.spec if is_sandbox else mapping(subject.spec.get("lifecycle"))
    policy = holder.get("shutdownPolicy")
    if policy not in _DELETING:
        path = "spec.shutdownPolicy" if is_sandbox else "spec.lifecycle.shutdownPolicy"
        yield Breach(path, got=shown(policy), required='"Delete"')


RULE = Rule(
    id="sandbox-lifetime",
    title="Sandboxes that end",
    description="A sandbox has no end, or stays when it has ended",
    rationale="What a model wrote goes on running when everyone has forgotten it.",
    remedy="set sandbox.shutdownAfter (or shutdownTime), and shutdownPolicy to Delete",
    source="https://agent-sandbox.sigs.k8s.io/docs/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AC-12",
        "SI-14",
        "LLM10",
        "ASI10",
    ),
    fix=Fix.YES,
    kinds=frozenset({SANDBOX, SANDBOX_CLAIM}),
    check=all_of(check_end, check_policy),
    admission=Admission(
        (
            in_object(
                "variables.lifecycle.?shutdownTime.orValue(null) == null"
                ' && !(object.kind == "Sandbox"'
                " ? variables.podSpec.?activeDeadlineSeconds.orValue(null) != null"
                " : variables.lifecycle.?ttlSecondsAfterFinished.orValue(null) != null)",
                "shutdownTime",
                "a time at which it ends",
            ),
            in_object(
                f'!(variables.lifecycle.?shutdownPolicy.orValue("") in {listed(_DELETING)})',
                "shutdownPolicy",
                '"Delete"',
                said("variables.lifecycle.?shutdownPolicy"),
            ),
        ),
        variables=(
            (
                "lifecycle",
                'object.kind == "Sandbox" ? variables.subject.?spec.orValue({})'
                " : variables.subject.?spec.?lifecycle.orValue({})",
            ),
        ),
    ),
)
