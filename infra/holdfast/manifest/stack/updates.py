"""How updates of a stack are done: what must hold before and after one."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import Items, ManifestModel, Text, Url

Number = Annotated[float, Field(allow_inf_nan=False)]


class WatchedMetric(ManifestModel):
    """A number that Prometheus knows, and how far it may go after an update."""

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

    @model_validator(mode="after")
    def _some_limit(self) -> Self:
        if self.max is None and self.min is None and self.max_increase_percent is None:
            raise fault("expected at least one of max, min and maxIncreasePercent")
        return self


class UpdateSettings(ManifestModel):
    """What must hold before and after an update by `holdfast up`, `promote` and `reconcile`."""

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
    metrics: Items[WatchedMetric] = ()
    """Metrics that are watched; need watchSeconds and prometheusUrl."""
    prometheus_url: Url | None = None
    """Prometheus as this machine reaches it; default that of telemetry."""
    require_approval: bool = False
    """Promotion to this stack needs a file that approves the commit (`holdfast promote
    --approval`); default false."""

    @model_validator(mode="after")
    def _is_watched(self) -> Self:
        if self.metrics and not self.watch_seconds:
            raise fault(
                "has no effect without watchSeconds", remedy="set watchSeconds", at=("metrics",)
            )
        hindrance = next((name for name in ("waves", "rollback") if getattr(self, name)), "")
        if self.continue_on_error and hindrance:
            why = {"waves": "ends at the first failure", "rollback": "takes all of it back"}
            raise fault(
                f"has no effect with {hindrance}, which {why[hindrance]}",
                remedy="set one of the two",
                at=("continueOnError",),
            )
        names = [each.name for each in self.metrics]
        for index, name in enumerate(names):
            if name in names[:index]:
                expected = "names of metrics must be unique"
                raise fault(expected, found=f"{name!r} twice", at=("metrics", index, "name"))
        return self
