"""An agent that must be there runs more than once, in more than one place."""

from collections.abc import Iterator

from holdfast_policies.api import (
    DEPLOYMENT,
    HPA,
    ROLLOUT,
    STATEFUL_SET,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    field_path,
    in_object,
    in_pod,
    items,
    mapping,
    number,
    said,
    shown,
)

FEWEST = Parameter(
    name="fewest",
    description="Fewest replicas of a workload, or of the range of its autoscaler.",
    schema={"type": "integer"},
    default=2,
)


def check_replicas(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A number of replicas below the least; absent, an autoscaler sets it and is judged itself."""
    if subject.kind == HPA:
        replicas, path = subject.spec.get("minReplicas", 1), "spec.minReplicas"
    else:
        replicas, path = subject.spec.get("replicas"), "spec.replicas"
    # None at all is switched off on purpose: nothing of it has to be there.
    count = number(replicas)
    if count is not None and 0 < count < settings["fewest"]:
        yield Breach(path, got=shown(replicas), required=f"at least {settings['fewest']}")


def check_spread(subject: Subject, _: Settings) -> Iterator[Breach]:
    """Replicas that may all run on one node."""
    pod = subject.pod
    if pod is None or subject.spec.get("replicas") == 0:
        return
    affinity = mapping(mapping(pod.spec.get("affinity")).get("podAntiAffinity"))
    is_spread = any(items(terms) for terms in affinity.values())
    if not is_spread and not items(pod.spec.get("topologySpreadConstraints")):
        path = field_path(pod.spec_path, "topologySpreadConstraints")
        yield Breach(path, "neither spread nor anti-affinity", "replicas in different places")


_IS_DECLARED = (
    "variables.subject.metadata.?managedFields.orValue([]).exists(m,"
    ' m.?operation.orValue("") == "Apply"'
    ' && m.?fieldsV1[?"f:spec"][?"f:replicas"].orValue(null) != null)'
)
"""CEL: whether somebody named a number of replicas, and not only the API server."""


def _below(field: str, default: int) -> str:
    """CEL: whether a number of replicas is below the least, but not none at all."""
    given = f"variables.subject.?spec.?{field}.orValue({default})"
    return f"{given} > 0 && {given} < variables.settings.fewest"


RULE = Rule(
    id="min-replicas-and-spread",
    title="Two replicas, two places",
    description="A workload runs once only, or all of its replicas may share one node",
    rationale="Draining one node, which happens every week, then takes the agent away.",
    remedy="run at least two replicas and spread them over zones or nodes",
    source="https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/",
    severity=Severity.LOW,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "CP-10",
        "SC-5",
    ),
    fix=Fix.YES,
    kinds=frozenset({DEPLOYMENT, STATEFUL_SET, ROLLOUT, HPA}),
    check=all_of(check_replicas, check_spread),
    parameters=(FEWEST,),
    admission=Admission(
        (
            in_object(
                f'object.kind != "{HPA.name}" && {_IS_DECLARED} && {_below("replicas", 0)}',
                "spec.replicas",
                "at least the fewest allowed",
                said("variables.subject.?spec.?replicas"),
            ),
            in_object(
                f'object.kind == "{HPA.name}" && {_below("minReplicas", 1)}',
                "spec.minReplicas",
                "at least the fewest allowed",
                said("variables.subject.?spec.?minReplicas"),
            ),
            in_pod(
                f'object.kind != "{HPA.name}"'
                " && variables.subject.?spec.?replicas.orValue(1) != 0"
                " && variables.podSpec.?topologySpreadConstraints.orValue([]).size() == 0"
                " && !variables.antiAffinity.exists(t, variables.antiAffinity[t].size() > 0)",
                "topologySpreadConstraints",
                "replicas in different places",
            ),
        ),
        variables=(("antiAffinity", "variables.podSpec.?affinity.?podAntiAffinity.orValue({})"),),
        differs=(
            "a number of replicas counts there only where it was applied by the server's side, for"
            " otherwise one that nobody named looks like 1"
        ),
    ),
)
