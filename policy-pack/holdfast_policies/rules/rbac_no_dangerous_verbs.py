"""No role lets an agent read secrets, enter pods, or take another identity."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, breaches, items_of
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import CLUSTER_ROLE, ROLE
from holdfast_policies.parts import each
from holdfast_policies.rights import GRANTED, Right, grants, rights_in_cel
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject, field_path, items, mapping, text
from holdfast_policies.wording import shown

_RBAC = "rbac.authorization.k8s.io"
_MAKING = ("create", "update", "patch")
_RIGHTS = ("roles", "clusterroles", "rolebindings", "clusterrolebindings")
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
    Right("volumes of its own making", "", ("persistentvolumes",), ("create", "update", "patch")),
    Right("making secrets, tokens among them", "", ("secrets",), ("create", "update", "patch")),
    Right("running pods", "", ("pods", "replicationcontrollers", "podtemplates"), _MAKING),
    Right(
        "running pods",
        "apps",
        ("deployments", "statefulsets", "daemonsets", "replicasets"),
        _MAKING,
    ),
    Right("running pods", "batch", ("jobs", "cronjobs"), _MAKING),
    Right("running pods", "argoproj.io", ("*",), _MAKING),
    Right("running pods", "agents.x-k8s.io", ("sandboxes",), _MAKING),
    Right("changing rights", _RBAC, _RIGHTS, _MAKING),
    Right(
        "the interface of pods and services",
        "",
        ("pods/proxy", "services/proxy"),
        ("get", "create"),
    ),
    Right("changing nodes", "", ("nodes", "nodes/status"), ("update", "patch", "create", "delete")),
    Right(
        "asking for certificates",
        "certificates.k8s.io",
        ("certificatesigningrequests",),
        ("create",),
    ),
    Right("deploying by others", "helm.toolkit.fluxcd.io", ("*",), _MAKING),
    Right("deploying by others", "kustomize.toolkit.fluxcd.io", ("*",), _MAKING),
    Right("reading secrets of others", "external-secrets.io", ("*",), _MAKING),
    Right("use of relaxed security", "security.openshift.io", ("*",), ("use",)),
    Right("redirecting traffic", "", ("endpoints",), ("create", "update", "patch")),
    Right(
        "redirecting traffic",
        "discovery.k8s.io",
        ("endpointslices",),
        ("create", "update", "patch"),
    ),
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
