"""What multiplies an agent has an end."""

from collections.abc import Iterator

from holdfast_policies.api import (
    HPA,
    SCALED_OBJECT,
    WARM_POOL,
    Admission,
    Breach,
    Environment,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    in_object,
    number,
    said,
    shown,
)

_FIELDS: dict[Kind, tuple[str, str]] = {
    HPA: ("maxReplicas", "most_replicas"),
    SCALED_OBJECT: ("maxReplicaCount", "most_replicas"),
    WARM_POOL: ("replicas", "most_warm"),
}
MOST_REPLICAS = Parameter(
    name="most_replicas",
    description="Highest maximum that an autoscaler may have.",
    schema={"type": "integer"},
    default=50,
    defaults={Environment.DEV: 10},
)
MOST_WARM = Parameter(
    name="most_warm",
    description="Most sandboxes that a warm pool may keep ready.",
    schema={"type": "integer"},
    default=20,
    defaults={Environment.DEV: 5},
)


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A maximum that is missing or above the bound; KEDA's own default is a hundred."""
    field, parameter = _FIELDS[subject.kind]
    most, given = settings[parameter], subject.spec.get(field)
    if given is None and subject.kind == WARM_POOL:
        return  # one
    count = number(given)
    if count is None or count > most:
        yield Breach(f"spec.{field}", got=shown(given), required=f"at most {most}")


_UNSET = {HPA: "1000000", SCALED_OBJECT: "1000000", WARM_POOL: "1"}
"""What counts where nothing is said: without end, but for a warm pool."""


RULE = Rule(
    id="autoscaler-and-warmpool-bounds",
    title="Growth with an end",
    description="An autoscaler or a warm pool has no maximum, or too high a one",
    rationale="A loop between two agents scales both, and the bill, until something stops it.",
    remedy="lower the maximum, or raise the bound by its parameter",
    source="https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-5",
        "SC-6",
        "LLM10",
        "ASI08",
    ),
    fix=Fix.NO,
    kinds=frozenset(_FIELDS),
    check=check,
    parameters=(
        MOST_REPLICAS,
        MOST_WARM,
    ),
    admission=Admission(
        tuple(
            in_object(
                f'object.kind == "{kind.name}"'
                f" && variables.subject.?spec.?{field}.orValue({_UNSET[kind]})"
                f" > variables.settings.{parameter}",
                f"spec.{field}",
                "no more than the bound",
                said(f"variables.subject.?spec.?{field}"),
            )
            for kind, (field, parameter) in _FIELDS.items()
        )
    ),
)
