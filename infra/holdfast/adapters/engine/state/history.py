"""The changes of a stack, oldest first, and what was under way at a given time."""

import bisect
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from holdfast.adapters.engine.state.checkpoint import Deployment, PendingOperation

_REFRESH_MARKS = ("pulumi.flag.refresh", "pulumi.env.PULUMI_OPTION_REFRESH")
_PARTIAL_MARKS = ("pulumi.flag.target", "pulumi.flag.exclude")


class Change(msgspec.Struct, rename="camel", frozen=True):
    """One change of a stack, as the engine recorded it.

    Attributes:
        kind: `update`, `refresh`, `destroy`, `resource-import`.
        result: `succeeded` or `failed`; a cancelled change failed.
        start_time: Whole seconds since 1970.
        environment: How the engine was called; names of flags, never their values.
        end_time: As `start_time`; 0 when it is not known.
        message: What its caller said of it.
        resource_changes: Operation to number of resources; None when nothing was recorded.
    """

    kind: str
    result: str = ""
    start_time: int = 0
    environment: Mapping[str, str] = {}
    end_time: int = 0
    message: str = ""
    resource_changes: Mapping[str, int] | None = None

    @property
    def succeeded(self) -> bool:
        """Whether all of it was done."""
        return self.result == "succeeded"

    @property
    def has_refreshed(self) -> bool:
        """Whether it wrote what it found in the cluster over what an update had recorded."""
        return self.kind == "refresh" or any(mark in self.environment for mark in _REFRESH_MARKS)

    @property
    def is_partial(self) -> bool:
        """Whether it was limited to some resources."""
        return any(mark in self.environment for mark in _PARTIAL_MARKS)


class History(Protocol):
    """What a baseline is chosen from; positions count from 0, the oldest change."""

    @property
    def saved_seconds(self) -> tuple[float, ...]:
        """When each change ended, ascending, in seconds since 1970."""

    def change(self, position: int) -> Change:
        """The record of one change."""

    def checkpoint(self, position: int) -> Deployment | None:
        """The checkpoint that the change left; None where the backend no longer has it."""

    def pending(self) -> tuple[PendingOperation, ...]:
        """Operations of the newest checkpoint that were never recorded as done."""


def position_covering(history: History, seconds: float) -> int | None:
    """Position of the change that was under way at a time; None when no record covers it.

    The backend's lock lets one change run at a time, so the first that ended after is the one.
    """
    position = bisect.bisect_left(history.saved_seconds, seconds)
    if position == len(history.saved_seconds):
        return None
    # The start was cut to a whole second when it was recorded.
    return position if history.change(position).start_time <= seconds else None


def seconds_of(timestamp: str) -> float:
    """Seconds since 1970; 0 for a time that an old engine did not write."""
    return datetime.fromisoformat(timestamp).timestamp() if timestamp else 0.0
