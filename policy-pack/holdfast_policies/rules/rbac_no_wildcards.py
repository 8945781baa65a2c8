"""A role names what it allows."""

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
    all_of,
    breaches,
    each,
    field_path,
    items,
    items_of,
    mapping,
    shown,
    text,
)

_OF_KUBERNETES = ("kubernetes.io/bootstrapping", "rbac.authorization.k8s.io/aggregate-to-")


def check_rules(subject: Subject, _: Settings) -> Iterator[Finding]:
    """A `*` in verbs, resources or groups; `*/scale` is one as well."""

    def check_rule(rule: object, path: str) -> Iterator[Finding]:
        def check_field(name: str, _: str) -> Iterator[Breach]:
            wide = [value for value in items(mapping(rule).get(name)) if "*" in text(value)]
            if wide:
                yield Breach(field_path(path, name), got=shown(wide), required="names without *")

        yield from each(["verbs", "resources", "apiGroups"], "", check_field)

    yield from each(subject.object.get("rules"), "rules", check_rule)


def check_aggregation(subject: Subject, _: Settings) -> Iterator[Finding]:
    """An aggregated role whose selector takes in every ClusterRole, cluster-admin too."""

    def check_selector(selector: object, path: str) -> Iterator[Breach]:
        labels = mapping(mapping(selector).get("matchLabels"))
        expressions = [mapping(one) for one in items(mapping(selector).get("matchExpressions"))]
        keys = [*labels, *(text(one.get("key")) for one in expressions)]
        negative = [one.get("operator") in ("NotIn", "DoesNotExist") for one in expressions]
        is_wide = bool(negative) and all(negative) and not labels
        if is_wide or any(key.startswith(_OF_KUBERNETES) for key in keys):
            got = "a selector that takes in Kubernetes' own roles"
            yield Breach(path, got, "a label of its own", "select by a label of your own")
        if not any(items(part) or mapping(part) for part in mapping(selector).values()):
            remedy = "select the ClusterRoles by a label"
            yield Breach(path, got="a selector of all roles", required="a label", remedy=remedy)

    selectors = mapping(subject.object.get("aggregationRule")).get("clusterRoleSelectors")
    yield from each(selectors, "aggregationRule.clusterRoleSelectors", check_selector)


RULE = Rule(
    id="rbac-no-wildcards",
    title="No wildcards in roles",
    description="A role allows everything of a kind instead of naming what it allows",
    rationale="A wildcard also allows what is installed next year, and what nobody thought of.",
    remedy="name the verbs, resources and API groups that are needed",
    source="https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("C5.1.3", "AC-6", "LLM06", "ASI03"),
    fix=Fix.NO,
    kinds=frozenset({ROLE, CLUSTER_ROLE}),
    check=all_of(check_rules, check_aggregation),
    admission=Admission(
        (
            breaches(
                items_of("variables.subject.?rules"),
                "r",
                '["verbs", "resources", "apiGroups"].exists(f,'
                ' r[?f].orValue([]).exists(v, v.contains("*")))',
                '"rules"',
                "names without *",
                "(r.?verbs.orValue([]) + r.?resources.orValue([]) + r.?apiGroups.orValue([]))"
                '.filter(v, v.contains("*")).join(", ")',
            ),
            breaches(
                "variables.subject.?aggregationRule.?clusterRoleSelectors.orValue([])",
                "s",
                "s.?matchLabels.orValue({}).size() == 0"
                " && s.?matchExpressions.orValue([]).size() == 0",
                '"aggregationRule.clusterRoleSelectors"',
                "a label",
                '"a selector of all roles"',
            ),
        ),
        differs=("a selector that takes in Kubernetes' own roles is seen before that only"),
    ),
)
