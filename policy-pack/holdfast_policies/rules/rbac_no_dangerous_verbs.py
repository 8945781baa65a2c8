"""No role lets an agent read secrets, enter pods, or take another identity."""

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
    field_path,
    items,
    items_of,
    mapping,
    shown,
    text,
)
from holdfast_policies.facts.dangerous_rights import DANGEROUS
from holdfast_policies.facts.rights import GRANTED, grants, rights_in_cel


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

    def check_addresses(rule: object, path: str) -> Iterator[Breach]:
        wide = [url for url in items(mapping(rule).get("nonResourceURLs")) if _is_wide(text(url))]
        if wide:
            place = field_path(path, "nonResourceURLs")
            yield Breach(place, shown(wide), "addresses that are named, such as /healthz")

    yield from each(subject.object.get("rules"), "rules", check_rule)
    yield from each(subject.object.get("rules"), "rules", check_addresses)


def _is_wide(url: str) -> bool:
    return url in ("*", "/", "/*") or url.startswith(("/debug", "/logs", "/proxy", "/flags"))


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
        differs="addresses beside resources are seen before that only",
        variables=(("rights", rights_in_cel(DANGEROUS)),),
    ),
)
