"""What is deployed is seen, object by object."""

from collections.abc import Iterator

from holdfast_policies.finding import Breach
from holdfast_policies.kinds import HELM_RELEASE
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Helm release, whose objects neither rules nor drift detection see."""
    if subject.kind == HELM_RELEASE:
        yield Breach("", got="a Helm release", required="objects that can be judged")


RULE = Rule(
    id="no-opaque-deployment",
    title="Nothing behind a release",
    description="Objects are deployed in a way that hides them from every rule",
    rationale="To the engine a release is one resource: no rule sees into it, and no scan either.",
    remedy="use the Chart resource (helm.sh/v4), which expands to objects, or render the chart",
    source="https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "CM-6",
        "SA-15",
    ),
    fix=Fix.NO,
    kinds=frozenset({HELM_RELEASE}),
    check=check,
    not_in_cluster="a release is a resource of the engine, of which the cluster sees the objects",
)
