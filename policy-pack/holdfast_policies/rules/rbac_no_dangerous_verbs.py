"""No role lets an agent read secrets, enter pods, or take another identity."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, breaches, items_of
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import CLUSTER_ROLE, ROLE
from holdfast_policies.parts import each
from holdfast_policies.rights import GRANTED, Right, grants, rights_in_cel
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject

_RBAC = "rbac.authorization.k8s.io"
DANGEROUS = (
    Right("reading secrets", "", ("secrets",), ("get", "list", "watch")),
    Right("running commands in pods", "", ("pods/exec", "pods/attach"), ("create", "get")),
    Right("adding containers to pods", "", ("pods/ephemeralcontainers",), ("update", "patch")),
    Right("forwarding ports of pods", "", ("pods/portforward",), ("create", "get")),
    Right("the kubelet's own interface", "", ("nodes/proxy",), ("get", "create", "update")),
    Right("tokens of other accounts", "", ("serviceaccounts/token",), ("create",)),
    Right(
        "acting as someone else",
        "",
        ("users", "groups", "serviceaccounts", "userextras"),
        ("impersonate",),
    ),
    Right(
        "acting as someone else",
        "authentication.k8s.io",
        ("users", "groups", "uids", "userextras"),
        ("impersonate",),
    ),
    Right("granting more than it has", _RBAC, ("roles", "clusterroles"), ("escalate", "bind")),
    Right("volumes of its own making", "", ("persistentvolumes",), ("create",)),
    Right(
        "approving certificates",
        "certificates.k8s.io",
        ("certificatesigningrequests/approval", "signers"),
        ("update", "patch", "approve", "sign"),
    ),
)


def check(subject: Subject, _: Settings) -> Iterator[Finding]:
    """Rules of a role that grant one of the rights."""

    def check_rule(rule: object, path: str) -> Iterator[Breach]:
        granted = [right.title for right in DANGEROUS if grants(rule, right)]
        if granted:
            yield Breach(
                path,
                got=", ".join(granted),
                required="rights that stay within what the agent was given",
            )

    yield from each(subject.object.get("rules"), "rules", check_rule)


RULE = Rule(
    id="rbac-no-dangerous-verbs",
    title="No dangerous rights",
    description="A role grants a right with which its holder can take any other",
    rationale="Who can read secrets or enter pods holds the rights of everyone they belong to.",
    remedy="grant what the agent needs, by resource, resourceName and verb",
    source="https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    severity=Severity.CRITICAL,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "C5.1.2-4,8-13",
        "AC-6",
        "LLM06",
        "ASI03",
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
                "rights that stay within what the agent was given",
                f'variables.rights.filter(g, {GRANTED}).map(g, g.title).join(", ")',
            ),
        ),
        variables=(("rights", rights_in_cel(DANGEROUS)),),
    ),
)
