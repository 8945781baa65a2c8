"""Nobody is bound to the roles and groups that Kubernetes keeps for itself."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CLUSTER_ROLE_BINDING,
    ROLE_BINDING,
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
    in_object,
    mapping,
    quoted,
    shown,
    text,
)

_ONE_ACCOUNT = "system:serviceaccount:"
_ACCOUNTS_OF_ONE_NAMESPACE = "system:serviceaccounts:"


def check_role(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A binding to cluster-admin or to a role of the system."""
    name = text(mapping(subject.object.get("roleRef")).get("name"))
    if name == "cluster-admin" or name.startswith("system:"):
        yield Breach("roleRef.name", got=shown(name), required="a role made for its subjects")


_WIDE_ROLES = ("admin", "edit")


def check_everywhere(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A binding to a built-in role that reads secrets and runs pods, whatever its subjects."""
    role = mapping(subject.object.get("roleRef"))
    if role.get("kind") == "ClusterRole" and text(role.get("name")) in _WIDE_ROLES:
        required = "a role made for its subjects"
        yield Breach("roleRef.name", shown(role.get("name")), required)


def check_subjects(subject: Subject, _: Settings) -> Iterator[Finding]:
    """A binding of a group or user of the system: all who log in, all who do not, the masters.

    Service accounts written as users, and those of one namespace as a group, are named on purpose.
    """

    def check_subject(bound: object, path: str) -> Iterator[Breach]:
        name = text(mapping(bound).get("name"))
        is_named = name.startswith((_ONE_ACCOUNT, _ACCOUNTS_OF_ONE_NAMESPACE))
        if name.startswith("system:") and not is_named:
            remedy = "bind the ServiceAccount, user or group that needs the role"
            required = "no user or group of the system"
            yield Breach(field_path(path, "name"), shown(name), required, remedy)

    yield from each(subject.object.get("subjects"), "subjects", check_subject, key="")


RULE = Rule(
    id="rbac-no-privileged-binding",
    title="No privileged bindings",
    description="A binding gives the rights of cluster-admin or of a system role",
    rationale="With them an agent, or an attacker who steers it, owns the cluster.",
    remedy="write a Role that names what is needed and bind that",
    source="https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("C5.1.1", "C5.1.7", "N", "AC-6", "ASI03"),
    fix=Fix.NO,
    kinds=frozenset({ROLE_BINDING, CLUSTER_ROLE_BINDING}),
    check=all_of(check_role, check_everywhere, check_subjects),
    admission=Admission(
        (
            in_object(
                'variables.subject.roleRef.name == "cluster-admin"'
                ' || variables.subject.roleRef.name.startsWith("system:")',
                "roleRef.name",
                "a role made for its subjects",
                "variables.subject.roleRef.name",
            ),
            breaches(
                "variables.subject.?subjects.orValue([])",
                "s",
                's.name.startsWith("system:")'
                f" && !s.name.startsWith({quoted(_ONE_ACCOUNT)})"
                f" && !s.name.startsWith({quoted(_ACCOUNTS_OF_ONE_NAMESPACE)})",
                '"subjects"',
                "no user or group of the system",
                "s.name",
            ),
        ),
        differs=("bindings to admin and edit are refused before that only"),
    ),
)
