"""How updates of a stack are done: what must hold before and after one."""

from typing import Annotated

from pydantic import Field

from holdfast.manifest.types.conditions import Given, any_given, is_
from holdfast.manifest.types.manifest_model import Items
from holdfast.manifest.types.rules import Rule, Ruled, Unique
from holdfast.manifest.types.values import Text, Url

Number = Annotated[float, Field(allow_inf_nan=False)]


class WatchedMetric(Ruled):
    """A number that Prometheus knows, and how far it may go after an update."""

    RULES = (
        Rule(
            "metric-has-limit",
            any_given("max", "min", "max_increase_percent"),
            "expected at least one of max, min and maxIncreasePercent",
            remedy="add max, min or maxIncreasePercent",
        ),
    )

    name: Text
    """What it is called in the history."""
    query: Text
    """Query of Prometheus that gives one number."""
    max: Number | None = None
    """Above it the update is rolled back; default none."""
    min: Number | None = None
    """Below it the update is rolled back; default none."""
    max_increase_percent: Annotated[float, Field(ge=0, le=100_000)] | None = None
    """How much it may grow over its value before the update, in percent; default without limit."""


class UpdateSettings(Ruled):
    """What must hold before and after an update by `holdfast up`, `promote` and `reconcile`."""

    RULES = (
        Rule(
            "metrics-are-watched",
            Given("metrics").excludes(is_("watch_seconds", 0)),
            "has no effect without watchSeconds",
            remedy="set watchSeconds",
            at="metrics",
        ),
        *(
            Rule(
                f"continue-without-{field}",
                is_("continue_on_error", True).excludes(is_(field, True)),
                f"has no effect with {field}, which {why}",
                remedy="set one of the two",
                at="continue_on_error",
            )
            for field, why in (
                ("waves", "ends at the first failure"),
                ("rollback", "takes all of it back"),
            )
        ),
    )

    waves: bool = False
    """Update agents in the order of their dependsOn, a wave at a time, each healthy before the
    next begins; default all at once, each as soon as those it needs are ready."""
    rollback: bool = False
    """Go back to the last good commit when an update fails, or makes health or metrics worse;
    default false."""
    continue_on_error: bool = False
    """Update what does not depend on what failed all the same, so that one agent's failure keeps no
    other one back; the update has failed nevertheless. Default false."""
    watch_seconds: Annotated[int, Field(ge=0, le=86_400)] = 0
    """How long health and metrics are watched after an update; default 0."""
    metrics: Annotated[Items[WatchedMetric], Unique()] = ()
    """Metrics that are watched; need watchSeconds and prometheusUrl."""
    prometheus_url: Url | None = None
    """Prometheus as this machine reaches it; default that of telemetry."""
    require_approval: bool = False
    """Promotion to this stack needs a file that approves the commit (`holdfast promote
    --approval`); default false."""
