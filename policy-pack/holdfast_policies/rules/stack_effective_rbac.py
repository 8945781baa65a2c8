"""What an account may do in sum stays within what its environment grants."""

from collections.abc import Iterator
from dataclasses import replace

from holdfast_policies.api import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    ROLE,
    ROLE_BINDING,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Stack,
    shown,
)
from holdfast_policies.facts.dangerous_rights import DANGEROUS
from holdfast_policies.facts.effective_rights import Account, accounts_of
from holdfast_policies.facts.rights import EVERYTHING, WRITING, Right, grants

EXEMPT = Parameter(
    name="accounts",
    description="ServiceAccounts, as namespace/name, that may do more: operators of the cluster.",
    schema={"type": "array", "items": {"type": "string"}},
    default=[],
)
WIDE = Parameter(
    name="cluster_wide_writes",
    description="Whether an account may write in every namespace.",
    schema={"type": "boolean"},
    default=False,
)
_ANY_WRITE = Right("writing", "*", EVERYTHING, WRITING)


def check(stack: Stack, settings: Settings) -> Iterator[Finding]:
    """Every ServiceAccount that the stack binds, with the rights of all of its roles together."""
    for account in accounts_of(stack):
        if account.name in settings["accounts"]:
            continue
        for finding in _check(account, settings):
            yield replace(finding, subject=account.bindings[0])


def _check(account: Account, settings: Settings) -> Iterator[Finding]:
    yield from account.unresolved
    titles = {right.title for rule in account.rules for right in DANGEROUS if grants(rule, right)}
    if titles:
        got = f"{account.name} may do in sum: {', '.join(sorted(titles))}"
        yield Breach("roleRef", got, "rights that stay within what the agent was given")
    writes = any(_writes(rule) for rule in account.cluster_rules)
    if writes and not settings["cluster_wide_writes"]:
        got = f"{account.name} may write in every namespace, by {shown(account.cluster_roles)}"
        yield Breach("roleRef", got, "a RoleBinding in the namespaces that it needs")


def _writes(rule: object) -> bool:
    return grants(rule, _ANY_WRITE, any_group=True)


RULE = Rule(
    id="stack-effective-rbac",
    title="Rights in sum",
    description="The roles of an account add up to more than any of them says",
    rationale="Every role was reviewed alone; what the agent holds is all of them.",
    remedy="bind fewer or narrower roles, in the namespaces that need them",
    source="https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AC-6",
        "ASI03",
        "LLM06",
    ),
    fix=Fix.NO,
    kinds=frozenset({ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING}),
    check_stack=check,
    parameters=(
        EXEMPT,
        WIDE,
    ),
    not_in_cluster=(
        "it takes all bindings of an account with their roles, and a policy sees one object"
    ),
)
