"""The network of a sandbox is closed by its controller."""

from collections.abc import Iterator

from holdfast_policies.api import (
    SANDBOX_TEMPLATE,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    in_object,
)


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A SandboxTemplate that tells its controller to make no network policy."""
    if subject.spec.get("networkPolicyManagement") == "Unmanaged":
        yield Breach("spec.networkPolicyManagement", got='"Unmanaged"', required='"Managed"')


RULE = Rule(
    id="sandbox-network-managed",
    title="Sandboxes behind a network policy",
    description="Sandboxes made from a template have no network policy of their own",
    rationale="A sandbox runs what a model wrote; an open network is how that gets out.",
    remedy="set networkPolicyManagement to Managed and name what the sandbox may reach",
    source="https://agent-sandbox.sigs.k8s.io/docs/",
    severity=Severity.HIGH,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-7",
        "LLM06",
        "ASI05",
    ),
    fix=Fix.YES,
    kinds=frozenset({SANDBOX_TEMPLATE}),
    check=check,
    admission=Admission(
        (
            in_object(
                'variables.subject.?spec.?networkPolicyManagement.orValue("") == "Unmanaged"',
                "spec.networkPolicyManagement",
                '"Managed"',
                '"Unmanaged"',
            ),
        )
    ),
)
