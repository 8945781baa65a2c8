"""When an agent of type Job runs, and for how long: by the clock, or because work waits."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import LabelValue, QualifiedKey, ShortLabel
from holdfast.manifest.types.values import Cron, Text, TimeZone


class Run(ManifestModel):
    """What every run of an agent of type Job has, whatever starts it."""

    id: ShortLabel | None = None
    """Name of it, unique in the agent; default its position in the list, from 0."""
    input: Text | None = None
    """What the run is asked to do; env AGENT_INPUT. Taken literally, nothing in it is expanded."""
    history_limit: Annotated[int, Field(ge=0, le=100)] = 3
    """Finished runs to keep, of each outcome; default 3."""
    suspend: bool = False
    """Start no further runs; default false."""
    retries: Annotated[int, Field(ge=0, le=10)] = 0
    """Further attempts after a failed one; default 0, as each attempt costs tokens."""
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=31_536_000)] = 604_800
    """Seconds after which a finished run is removed; default 604800, a week."""


class Schedule(Run):
    """One time table by which an agent of type Job runs."""

    cron: Cron
    """When: minute, hour, day of the month, month, day of the week."""
    timezone: TimeZone = "UTC"
    """Time zone of the schedule; default UTC."""
    concurrency_policy: Literal["Forbid", "Allow", "Replace"] = "Forbid"
    """What happens to a run that is due while the last one still runs; default Forbid."""
    starting_deadline_seconds: Annotated[int, Field(ge=10, le=604_800)] = 3600
    """Seconds after which a run that could not be started at its time is left out; default 3600."""


class Trigger(Run):
    """Work that waits somewhere, and starts runs of an agent of type Job; needs KEDA."""

    metric: Text
    """Metric of the stack's Prometheus that says how much waits, such as queue_depth."""
    selector: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels that its series carry; default any."""
    per_run: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """How much of it one run takes on; default 1."""
    max_runs: Annotated[int, Field(ge=1, le=1000)] = 1
    """Most runs at a time; default 1."""
    polling_seconds: Annotated[int, Field(ge=5, le=3600)] = 30
    """Seconds between queries of the metric; default 30."""


class JobSettings(ManifestModel):
    """The runs of an agent of type Job."""

    schedules: Items[Schedule] = ()
    """When it runs."""
    triggers: Items[Trigger] = ()
    """What else starts runs: work that waits. Needs KEDA."""


def run_names(
    agent: str, schedules: Sequence[Schedule], triggers: Sequence[Trigger]
) -> Iterator[tuple[str, str, int]]:
    """Field, object's name and position of everything that starts runs.

    A schedule's CronJob is called `<agent>-<id>`, or by its position where it has no id; a
    trigger's ScaledJob `<agent>-<id>`, or `<agent>-trigger-<position>`.
    """
    for index, schedule in enumerate(schedules):
        yield "schedules", f"{agent}-{schedule.id or index}", index
    for index, trigger in enumerate(triggers):
        yield "triggers", f"{agent}-{trigger.id or f'trigger-{index}'}", index
