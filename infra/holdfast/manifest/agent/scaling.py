"""How many replicas run: a number, a range for an autoscaler, or what a schedule says."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types.conditions import Compared, Every, Given, any_given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import LabelName, LabelValue, QualifiedKey
from holdfast.manifest.types.rules import Computed, Found, Rule, Ruled, finds
from holdfast.manifest.types.values import (
    Cron,
    Duration,
    IntOrPercent,
    PositiveQuantity,
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


BY_USE: Final = ("Resource", "ContainerResource")
"""Types of metrics that the kubelet measures."""


class ScalingMetric(Ruled):
    """What the autoscaler looks at."""

    RULES = (
        Rule(
            "resource-metric-name",
            is_("type", *BY_USE).needs(is_("name", "cpu", "memory")),
            "a Resource metric is cpu or memory",
            shown=("name",),
            at="name",
            remedy="write cpu or memory, or use type: Pods",
        ),
        Rule(
            "resource-metric-selector",
            is_("type", *BY_USE).excludes(Given("selector")),
            "selector has no effect on a Resource metric",
            at="selector",
            remedy="remove selector, or use type: Pods",
        ),
        Rule(
            "metric-of-a-container",
            Given("container").needs(is_("type", "ContainerResource")),
            "has no effect on this metric",
            shown=("type",),
            remedy="use type: ContainerResource, or remove it",
            at="container",
        ),
    )

    type: Literal["Resource", "ContainerResource", "Pods", "External"]
    """Resource: the use of all containers together. ContainerResource: of one of them. Pods: a
    metric of each pod. External: one from elsewhere."""
    name: Text
    """Resource (cpu, memory) or metric name."""
    target: Target
    """Value to hold, an average per pod: percent of the request for a Resource given as a number,
    else a quantity."""
    selector: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels that the series of a Pods or External metric carry; default any."""
    container: LabelName | None = None
    """Container whose use a ContainerResource metric is; default the agent's own, so that sidecars
    do not count."""

    @property
    def is_by_use(self) -> bool:
        """Whether it is what containers use: nothing uses anything where no replica runs."""
        return self.type in BY_USE


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


class ScalingSchedule(Ruled):
    """A stretch of time that recurs, with the replicas that run in it."""

    RULES = (
        Rule(
            "schedule-has-length",
            Computed(why_not="spaces between the fields of a time table do not count"),
            "expected an end other than the start",
            remedy="change start or end",
        ),
    )

    start: Cron
    """When it begins, in cron's five fields."""
    end: Cron
    """When it ends, in cron's five fields."""
    timezone: TimeZone = "UTC"
    """Time zone of both, such as Europe/London; default UTC."""
    replicas: SomeReplicas
    """Replicas that run at least."""


class DisruptionBudget(ManifestModel):
    """How many pods a drain may take at once."""

    max_unavailable: IntOrPercent = 1
    """Number or percent; default 1."""


class Availability(Ruled):
    """What keeps the agent up while nodes come and go."""

    RULES = (
        *(
            Rule(
                f"standby-for-{field}",
                ~is_(field, value) | is_("standby", True),
                "there is no standby",
                remedy="add standby: true",
                at=field,
            )
            for field, value in (("active", "standby"), ("failover", "automatic"))
        ),
        Rule(
            "failover-after",
            Given("failover_after").needs(is_("failover", "automatic")),
            "has no effect on a manual fail-over",
            remedy="remove it, or use failover: automatic",
            at="failover_after",
        ),
    )

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

    @property
    def failover_seconds(self) -> float:
        """Seconds without a ready pod after which the operator fails over."""
        return duration_milliseconds(self.failover_after or DEFAULT_FAILOVER_AFTER) / 1000


class Scaling(Ruled):
    """A fixed number of replicas, or a range for the autoscaler; schedules and idleness by KEDA."""

    RULES = (
        Rule(
            "replicas-or-range",
            Given("replicas").excludes(
                any_given("min_replicas", "max_replicas", "metrics", "behavior", "idle_seconds")
            ),
            "replicas excludes minReplicas, maxReplicas, metrics, behavior and idleSeconds",
            remedy="remove replicas, or what needs a range",
        ),
        Rule(
            "range-has-both-ends",
            Given("min_replicas").equals(Given("max_replicas")),
            "expected both minReplicas and maxReplicas",
            remedy="add the other one, or write replicas",
        ),
        Rule(
            "metrics-need-range",
            Given("metrics").needs(any_given("replicas", "min_replicas", "max_replicas")),
            "metrics need minReplicas and maxReplicas",
            remedy="add minReplicas and maxReplicas, or remove metrics",
        ),
        Rule(
            "behavior-needs-range",
            Given("behavior").needs(
                any_given("replicas", "min_replicas", "max_replicas", "idle_seconds", "schedules")
            ),
            "behavior needs minReplicas and maxReplicas, or schedules",
            remedy="add minReplicas and maxReplicas, or remove behavior",
        ),
        Rule(
            "range-is-in-order",
            Compared("min_replicas", "<=", "max_replicas"),
            "minReplicas must not exceed maxReplicas",
            shown=("min_replicas", "max_replicas"),
            remedy="raise maxReplicas, or lower minReplicas",
        ),
        Rule(
            "range-needs-metrics",
            Every((Given("min_replicas"), Given("max_replicas"), ~Given("replicas"))).needs(
                any_given("metrics", "schedules")
            ),
            "a range needs metrics",
            remedy="say what to scale on, such as cpu at 70",
        ),
        Rule(
            "schedule-within-range",
            Computed(
                cel="!has(self.maxReplicas) || !has(self.schedules) || "
                "self.schedules.all(each, each.replicas <= self.maxReplicas)",
                fields=("schedules",),
            ),
            "a schedule must not ask for more than maxReplicas",
            remedy="raise maxReplicas, or lower the schedule's replicas",
        ),
        Rule(
            "idleness-ends",
            Computed(
                cel="!has(self.idleSeconds) || (has(self.schedules) && size(self.schedules) > 0) "
                "|| (has(self.metrics) && self.metrics.exists(each, each.type != 'Resource'))",
                fields=("idle_seconds",),
            ),
            "idleSeconds needs something that wakes the agent: without replicas there is no "
            "cpu or memory to look at",
            remedy="add a Pods or External metric, or schedules",
        ),
        Rule(
            "metrics-once",
            Computed(
                why_not="CEL compares selectors with every other above its cost limit",
                fields=("metrics",),
            ),
            "metrics must be unique",
            remedy="remove one of them",
        ),
    )

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
    """Times with more replicas; at other times the other fields decide. Needs KEDA."""
    availability: Availability = Availability.model_construct()
    """What keeps it up while nodes come and go."""
    leader_election: bool = False
    """One replica leads: rights to a Lease, its name in LEASE_NAME, and a token; default false."""

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


@finds("schedule-has-length")
def _no_length(schedule: ScalingSchedule) -> Iterator[Found]:
    if schedule.start.split() == schedule.end.split():
        yield Found(("end",), repr(schedule.end))


@finds("schedule-within-range")
def _beyond_range(scaling: Scaling) -> Iterator[Found]:
    most = scaling.max_replicas
    for index, schedule in enumerate(scaling.schedules):
        if most is not None and schedule.replicas > most:
            found = f"{schedule.replicas} > {most}"
            yield Found(("schedules", index, "replicas"), found)


@finds("idleness-ends")
def _never_wakes(scaling: Scaling) -> Iterator[Found]:
    wakes = any(not metric.is_by_use for metric in scaling.metrics) or scaling.schedules
    if scaling.idle_seconds is not None and not wakes:
        yield Found(("idleSeconds",))


@finds("metrics-once")
def _repeated_metrics(scaling: Scaling) -> Iterator[Found]:
    seen: set[object] = set()
    for index, metric in enumerate(scaling.metrics):
        key = (metric.type, metric.name, metric.container, tuple(sorted(metric.selector.items())))
        if key in seen:
            yield Found(("metrics", index, "name"), f"{metric.name!r} twice")
        seen.add(key)
