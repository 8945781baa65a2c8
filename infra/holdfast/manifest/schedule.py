"""When an agent runs by itself, and for how long."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from holdfast.manifest.values import Cron, LabelName, ManifestModel, Text, TimeZone


class Schedule(ManifestModel):
    """One time table by which an agent of type Job runs."""

    id: Annotated[LabelName, StringConstraints(max_length=20)] | None = None
    """Name of the schedule, unique in the agent; default its position in the list, from 0."""
    cron: Cron
    """When: minute, hour, day of the month, month, day of the week."""
    timezone: TimeZone = "UTC"
    """Time zone of the schedule; default UTC."""
    input: Text | None = None
    """What the run is asked to do; env AGENT_INPUT. Taken literally, nothing in it is expanded."""
    concurrency_policy: Literal["Forbid", "Allow", "Replace"] = "Forbid"
    """What happens to a run that is due while the last one still runs; default Forbid."""
    history_limit: Annotated[int, Field(ge=0, le=100)] = 3
    """Finished runs kept to look at, of each outcome; default 3."""
    suspend: bool = False
    """Start no further runs; default false."""
    retries: Annotated[int, Field(ge=0, le=10)] = 0
    """Further attempts after a failed one; default 0, as each attempt costs tokens."""
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=31_536_000)] = 604_800
    """Seconds after which a finished run is removed; default 604800, a week."""


def schedule_names(agent: str, schedules: Sequence[Schedule]) -> list[str]:
    """Name of each schedule's CronJob: `<agent>-<id>`, or its position where it has no id."""
    return [f"{agent}-{each.id or index}" for index, each in enumerate(schedules)]
