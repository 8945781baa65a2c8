"""No role lets an agent change the rules that hold it."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CLUSTER_ROLE,
    ROLE,
    Admission,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    breaches,
    each,
    items_of,
)
from holdfast_policies.facts.rights import (
    EVERYTHING,
    GRANTED,
    WRITING,
    Right,
    grants,
    rights_in_cel,
)

STEERING = (
    *("agents", "agentteams", "agentstacks", "modelconfigs", "mcpservers"),
    *("policyexceptions", "driftignores"),
)
DANGEROUS = (
    Right("writing admission policies", "admissionregistration.k8s.io", EVERYTHING, WRITING),
    Right("writing network policies", "networking.k8s.io", ("networkpolicies",), WRITING),
    Right("writing network policies", "policy.networking.k8s.io", EVERYTHING, WRITING),
    Right(
        "writing network policies",
        "cilium.io",
        ("ciliumnetworkpolicies", "ciliumclusterwidenetworkpolicies"),
        WRITING,
    ),
    Right("writing Kyverno policies", "kyverno.io", EVERYTHING, WRITING),
    Right("writing Kyverno policies", "policies.kyverno.io", EVERYTHING, WRITING),
    Right("writing Gatekeeper constraints", "constraints.gatekeeper.sh", EVERYTHING, WRITING),
    Right("writing Gatekeeper templates", "templates.gatekeeper.sh", EVERYTHING, WRITING),
    # Not their status: a controller says there what it has seen.
    Right("writing what waives and steers agents", "holdfast.dev", STEERING, WRITING),
    Right("writing parameters of policies", "policy.holdfast.dev", EVERYTHING, WRITING),
    Right("writing definitions", "apiextensions.k8s.io", EVERYTHING, WRITING),
    Right("writing API services", "apiregistration.k8s.io", EVERYTHING, WRITING),
    Right("writing network policies", "projectcalico.org", EVERYTHING, WRITING),
    Right("writing network policies", "crd.projectcalico.org", EVERYTHING, WRITING),
    Right("writing mesh policies", "security.istio.io", EVERYTHING, WRITING),
    Right("writing runtime classes", "node.k8s.io", ("runtimeclasses",), WRITING),
    Right("writing storage classes", "storage.k8s.io", ("storageclasses", "csidrivers"), WRITING),
    Right("changing labels of namespaces", "", ("namespaces",), ("update", "patch")),
    Right("writing quotas and limit ranges", "", ("resourcequotas", "limitranges"), WRITING),
)


def check(subject: Subject, _: Settings) -> Iterator[Finding]:
    """Rules of a role that grant one of the rights."""

    def check_rule(rule: object, path: str) -> Iterator[Breach]:
        granted = [right.title for right in DANGEROUS if grants(rule, right)]
        if granted:
            yield Breach(
                path, got=", ".join(granted), required="no right over the rules that hold the agent"
            )

    yield from each(subject.object.get("rules"), "rules", check_rule)


RULE = Rule(
    id="rbac-no-policy-tampering",
    title="Hands off the rules",
    description="A role grants a right over the policies that hold its holder",
    rationale="An agent that can lift its own limits has none.",
    remedy="leave policies, webhooks, quotas and labels of namespaces to people and pipelines",
    source="https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "C5.1.12",
        "CM-5",
        "AC-5",
        "ASI10",
    ),
    fix=Fix.NO,
    kinds=frozenset({ROLE, CLUSTER_ROLE}),
    check=check,
    admission=Admission(
        (
            breaches(
                items_of("variables.subject.?rules"),
                "r",
                f"variables.rights.exists(g, {GRANTED})",
                '"rules"',
                "no right over the rules that hold the agent",
                f'variables.rights.filter(g, {GRANTED}).map(g, g.title).join(", ")',
            ),
        ),
        variables=(("rights", rights_in_cel(DANGEROUS)),),
    ),
)
