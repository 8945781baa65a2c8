"""What runs more than once is not drained all at once."""

from collections.abc import Iterator

from holdfast_policies.api import (
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    HPA,
    ROLLOUT,
    STATEFUL_SET,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    UndeterminedError,
    field_path,
    mapping,
    number,
    workloads,
)
from holdfast_policies.facts.selectors import selects

_SCALED = (DEPLOYMENT, STATEFUL_SET, ROLLOUT)


def check(workload: Subject, stack: Stack, _: Settings) -> Iterator[Finding]:
    """A workload of several replicas that no PodDisruptionBudget of the stack selects."""
    pod = workload.pod
    if workload.kind not in _SCALED or pod is None or _replicas(workload, stack) < 2:  # noqa: PLR2004  # several
        return
    labels = mapping(pod.metadata.get("labels"))
    unknown: UndeterminedError | None = None
    for budget in stack.of_kind(DISRUPTION_BUDGET):
        try:
            if budget.namespace == workload.namespace and selects(
                budget.spec.get("selector"), labels
            ):
                return
        except UndeterminedError as signal:
            unknown = signal
    if unknown is not None:
        raise unknown
    path = field_path(pod.path, "metadata", "labels")
    yield Breach(path, "no PodDisruptionBudget that selects them", "a budget for its pods")


def _replicas(workload: Subject, stack: Stack) -> float:
    """Replicas that run at least: those declared, or the least of its autoscaler."""
    for scaler in stack.of_kind(HPA):
        target = mapping(scaler.spec.get("scaleTargetRef"))
        if (scaler.namespace, target.get("kind"), target.get("name")) == (
            workload.namespace,
            workload.kind.name,
            workload.name,
        ):
            return number(scaler.spec.get("minReplicas")) or 1
    declared = number(workload.spec.get("replicas"))
    return 1 if declared is None else declared


RULE = Rule(
    id="stack-disruption-budget-coverage",
    title="A budget for disruptions",
    description="Replicas of a workload may all be evicted at the same time",
    rationale="An upgrade of the nodes then takes the agent away although it runs many times.",
    remedy="add a PodDisruptionBudget for it (scaling.availability.pdb)",
    source="https://kubernetes.io/docs/tasks/run-application/configure-pdb/",
    severity=Severity.LOW,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.MANDATORY),
    frameworks=("CP-10",),
    fix=Fix.NO,
    kinds=frozenset({*_SCALED, HPA, DISRUPTION_BUDGET}),
    check_stack=workloads(check),
    not_in_cluster=(
        "it takes the disruption budgets beside every workload, and a policy sees one object"
    ),
)
