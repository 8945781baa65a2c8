"""What is deployed is seen, object by object."""

from collections.abc import Iterator

from holdfast_policies.api import (
    ANY_KIND,
    Breach,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    items,
    mapping,
)
from holdfast_policies.facts.known_kinds import DELIVERERS, FULL_TEMPLATES, HARMLESS, is_in

_MOST_LOOKED_AT = 2_000
_REQUIRED = "objects that can be judged"


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A kind whose controller makes objects that neither rules nor drift detection see."""
    if is_in(DELIVERERS, subject.kind):
        yield Breach(
            "kind", got=f"{subject.kind}, which deploys what stands elsewhere", required=_REQUIRED
        )
    elif subject.kind.group == "kyverno.io":
        for index, rule in enumerate(items(subject.spec.get("rules"))):
            if mapping(mapping(rule).get("generate")):
                yield Breach(
                    f"spec.rules[{index}].generate", "objects that are generated", "no such rule"
                )
    elif not is_in(HARMLESS, subject.kind) and not is_in(FULL_TEMPLATES, subject.kind):
        yield from _check_content(subject)


def _check_content(subject: Subject) -> Iterator[Breach]:
    """An unknown kind that carries whole objects, or names a chart or a repository to deploy."""
    left: list[tuple[str, object]] = list(dict.items(dict(subject.spec)))
    for _ in range(_MOST_LOOKED_AT):
        if not left:
            return
        path, value = left.pop()
        if isinstance(value, list):
            left += [(path, item) for item in value]
        elif isinstance(value, dict):
            is_object = isinstance(value.get("apiVersion"), str) and isinstance(
                value.get("kind"), str
            )
            if is_object and ("metadata" in value or "spec" in value):
                yield Breach(f"spec.{path}", "an object within an object", _REQUIRED)
                return
            is_source = bool({"chart", "repoURL"} & value.keys())
            if is_source and {"chart", "path", "targetRevision"} & value.keys():
                yield Breach(f"spec.{path}", "what is deployed from elsewhere", _REQUIRED)
                return
            left += [(path, item) for item in value.values()]


RULE = Rule(
    id="no-opaque-deployment",
    title="Nothing behind a release",
    description="Objects are deployed in a way that hides them from every rule",
    rationale="Rules and scans see one object, and its controller makes others unseen.",
    remedy="use the Chart resource (helm.sh/v4), which expands to objects, or render them",
    source="https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "CM-6",
        "SA-15",
    ),
    fix=Fix.NO,
    kinds=frozenset({ANY_KIND}),
    check=check,
    not_in_cluster="who delivers is known by name, and the cluster sees the objects that are made",
)
