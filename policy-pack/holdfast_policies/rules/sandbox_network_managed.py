"""The network of a sandbox is closed by its controller."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, in_object
from holdfast_policies.finding import Breach
from holdfast_policies.kinds import SANDBOX_TEMPLATE
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject


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
