"""How many replicas run: a number, a range for an autoscaler, or what a schedule says."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.values import (
    Cron,
    Duration,
    IntOrPercent,
    Items,
    LabelValue,
    ManifestModel,
    PositiveQuantity,
    QualifiedKey,
    Text,
    TimeZone,
    duration_milliseconds,
)

MAX_REPLICAS = 1000
Replicas = Annotated[int, Field(ge=0, le=MAX_REPLICAS)]
SomeReplicas = Annotated[int, Field(ge=1, le=MAX_REPLICAS)]
DEFAULT_FAILOVER_AFTER = "30s"


def _target_shape(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    # Callers in other languages send whole numbers as floats.
    is_number = isinstance(value, int | float)
    return "number" if is_number else "quantity" if isinstance(value, str) else None


Target = Annotated[
    Annotated[int, Field(ge=1), branch("number")] | Annotated[PositiveQuantity, branch("quantity")],
    chosen_by(_target_shape, 'expected a number or a quantity such as "500m" or "2Gi"'),
]


class ScalingMetric(ManifestModel):
    """What the autoscaler looks at."""

    type: Literal["Resource", "Pods", "External"]
    """Resource: the containers' use. Pods: a metric of each pod. External: one from elsewhere."""
    name: Text
    """Resource (cpu, memory) or metric name."""
    target: Target
    """Value to hold, an average per pod: percent of the request for a Resource given as a number,
    else a quantity."""
    selector: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels that the series of a Pods or External metric carry; default any."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.type == "Resource" and self.name not in {"cpu", "memory"}:
            raise fault("a Resource metric is cpu or memory", found=repr(self.name), at=("name",))
        if self.type == "Resource" and self.selector:
            raise fault("selector has no effect on a Resource metric", at=("selector",))
        return self


class ScalingPolicy(ManifestModel):
    """How much may change in a stretch of time."""

    type: Literal["Pods", "Percent"]
    """Unit of value."""
    value: Annotated[int, Field(ge=1)]
    """Pods or percent that may be added or taken away."""
    period_seconds: Annotated[int, Field(ge=1, le=1800)]
    """Stretch of time in seconds, at most 1,800."""


class ScalingRules(ManifestModel):
    """How fast the autoscaler moves in one direction."""

    stabilization_window_seconds: Annotated[int, Field(ge=0, le=3600)] | None = None
    """Seconds of past wishes that it takes the mildest of; default 0 up, 300 down."""
    select_policy: Literal["Max", "Min", "Disabled"] | None = None
    """Which of the policies counts; Disabled: never in this direction. Default Max."""
    policies: Items[ScalingPolicy] = ()
    """How much may change in which time; default Kubernetes'."""
    tolerance: PositiveQuantity | None = None
    """How far a metric may be from its target before anything happens; default 10 percent."""


class ScalingBehavior(ManifestModel):
    """How fast the autoscaler moves."""

    scale_up: ScalingRules | None = None
    """Adding replicas."""
    scale_down: ScalingRules | None = None
    """Taking replicas away."""


class ScalingSchedule(ManifestModel):
    """A stretch of time that recurs, with the replicas that run in it."""

    start: Cron
    """When it begins, in cron's five fields."""
    end: Cron
    """When it ends, in cron's five fields."""
    timezone: TimeZone = "UTC"
    """Time zone of both, such as Europe/London; default UTC."""
    replicas: SomeReplicas
    """Replicas that run at least."""

    @model_validator(mode="after")
    def _has_a_length(self) -> Self:
        if self.start.split() == self.end.split():
            raise fault("expected an end other than the start", found=repr(self.end), at=("end",))
        return self


class Scaling(ManifestModel):
    """A fixed number of replicas, or a range for the autoscaler; schedules and idleness by KEDA."""

    replicas: Replicas | None = None
    """Fixed number; default 1. Excludes minReplicas and maxReplicas."""
    min_replicas: SomeReplicas | None = None
    """Fewest replicas; with maxReplicas."""
    max_replicas: SomeReplicas | None = None
    """Most replicas; with minReplicas."""
    metrics: Items[ScalingMetric] = ()
    """What to scale on; required with a range, unless schedules say it."""
    behavior: ScalingBehavior | None = None
    """How fast the autoscaler moves; default Kubernetes'."""
    idle_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds without work after which no replica runs, until there is work again; needs KEDA."""
    schedules: Items[ScalingSchedule] = ()
    """Stretches of time with more replicas; outside them, what else is said. Needs KEDA."""

    @model_validator(mode="after")
    def _fixed_or_range(self) -> Self:
        ends = (self.min_replicas, self.max_replicas)
        if self.replicas is not None and (
            any(ends) or self.metrics or self.behavior or self.idle_seconds
        ):
            raise fault(
                "replicas excludes minReplicas, maxReplicas, metrics, behavior and idleSeconds"
            )
        if (self.min_replicas is None) != (self.max_replicas is None):
            raise fault("expected both minReplicas and maxReplicas")
        if self.min_replicas is None and self.metrics:
            raise fault("metrics need minReplicas and maxReplicas")
        if self.behavior and not self.is_automatic:
            raise fault("behavior needs minReplicas and maxReplicas, or schedules")
        if self.min_replicas and self.max_replicas:
            self._refuse_faulty_range(self.min_replicas, self.max_replicas)
        self._refuse_faulty_idleness()
        self._refuse_repeated_metrics()
        return self

    def _refuse_faulty_range(self, fewest: int, most: int) -> None:
        if fewest > most:
            found = f"{fewest} > {most}"
            raise fault("minReplicas must not exceed maxReplicas", found=found)
        if not self.metrics and not self.schedules:
            raise fault("a range needs metrics", remedy="say what to scale on, such as cpu at 70")
        for index, schedule in enumerate(self.schedules):
            if schedule.replicas > most:
                raise fault(
                    "a schedule must not ask for more than maxReplicas",
                    found=f"{schedule.replicas} > {most}",
                    at=("schedules", index, "replicas"),
                )

    def _refuse_faulty_idleness(self) -> None:
        wakes = any(metric.type != "Resource" for metric in self.metrics) or self.schedules
        if self.idle_seconds is not None and not wakes:
            raise fault(
                "idleSeconds needs something that wakes the agent: without replicas there is no "
                "cpu or memory to look at",
                remedy="add a Pods or External metric, or schedules",
                at=("idleSeconds",),
            )

    def _refuse_repeated_metrics(self) -> None:
        seen: set[object] = set()
        for index, metric in enumerate(self.metrics):
            key = (metric.type, metric.name, tuple(sorted(metric.selector.items())))
            if key in seen:
                found = f"{metric.name!r} twice"
                raise fault("metrics must be unique", found=found, at=("metrics", index, "name"))
            seen.add(key)

    @property
    def needs_keda(self) -> bool:
        """Whether KEDA owns the number of replicas."""
        return self.idle_seconds is not None or bool(self.schedules)

    @property
    def is_automatic(self) -> bool:
        """Whether something else than the manifest owns the number of replicas."""
        return self.max_replicas is not None or self.needs_keda

    @property
    def base_replicas(self) -> int:
        """Replicas that run when there is work but no schedule and no metric asks for more."""
        return self.min_replicas or (1 if self.replicas is None else self.replicas)

    @property
    def most_replicas(self) -> int:
        """The largest number that may run."""
        scheduled = (schedule.replicas for schedule in self.schedules)
        return self.max_replicas or max(self.base_replicas, *scheduled, 0)

    @property
    def fewest_replicas(self) -> int:
        """The smallest number that may run."""
        return 0 if self.idle_seconds is not None else self.base_replicas


class DisruptionBudget(ManifestModel):
    """How many pods a drain may take at once."""

    max_unavailable: IntOrPercent = 1
    """Number or percent; default 1."""


class Availability(ManifestModel):
    """What keeps the agent up while nodes come and go."""

    pdb: DisruptionBudget = DisruptionBudget.model_construct()
    """Disruption budget; rendered when more than one replica runs."""
    standby: bool = False
    """Run a second Deployment `<agent>-standby`, warm but without traffic; default false."""
    active: Literal["primary", "standby"] = "primary"
    """Which of the two the Service leads to: change it to fail over, one write. Default primary."""
    failover: Literal["manual", "automatic"] = "manual"
    """automatic: the operator leads the Service to the other one when no pod of the one that serves
    has been ready for failoverAfter, and one of the other is; it stays there. Default manual: the
    agent's status offers it."""
    failover_after: Duration | None = None
    """How long no pod may be ready before; only with failover: automatic. Default 30s."""

    @model_validator(mode="after")
    def _standby_exists(self) -> Self:
        for field in ("active", "failover"):
            if field in self.model_fields_set and not self.standby:
                declared = getattr(self, field)
                if declared in ("standby", "automatic"):
                    raise fault("there is no standby", remedy="add standby: true", at=(field,))
        if self.failover_after is not None and self.failover == "manual":
            remedy = "remove it, or use failover: automatic"
            raise fault("has no effect on a manual fail-over", remedy=remedy, at=("failoverAfter",))
        return self

    @property
    def failover_seconds(self) -> float:
        """Seconds without a ready pod after which the operator fails over."""
        return duration_milliseconds(self.failover_after or DEFAULT_FAILOVER_AFTER) / 1000
