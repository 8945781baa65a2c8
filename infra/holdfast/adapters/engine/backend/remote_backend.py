"""A backend that is no folder of this machine: its history and checkpoints, asked of the engine.

Self-managed ones (`s3://`, `postgres://`, ...) only give out the newest checkpoint, Pulumi Cloud
all; what our own updates have left is kept here as well.
"""

from dataclasses import dataclass
from functools import cached_property

import msgspec

from holdfast.adapters.engine.backend.lock_holder import LockHolder
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.checkpoint import Deployment, PendingOperation
from holdfast.adapters.engine.state.history import Change, seconds_of
from holdfast.adapters.engine.state.state_backup import KeptStates
from holdfast.adapters.engine.update_record import identifier_of
from holdfast.errors import EngineError

RECORDS = 100
"""How many changes are read."""

# Results that only a service has.
_IN_PROGRESS, _NOT_STARTED = "in-progress", "not-started"


class _Record(msgspec.Struct, rename="camel"):
    kind: str
    result: str = ""
    start_time: str = ""
    end_time: str = ""
    version: int = 0
    message: str = ""
    resource_changes: dict[str, int] | None = None
    environment: dict[str, str] = {}

    @property
    def has_ended(self) -> bool:
        """Whether it was begun, and is over."""
        return bool(self.end_time) and self.result not in (_IN_PROGRESS, _NOT_STARTED)


@dataclass(frozen=True)
class RemoteHistory:
    """The newest changes of a stack, as its backend reports them."""

    stack: Stack

    @cached_property
    def _told(self) -> tuple[_Record, ...]:
        records = msgspec.convert(self.stack.history_records(RECORDS), type=tuple[_Record, ...])
        return tuple(reversed(records))

    @cached_property
    def _records(self) -> tuple[_Record, ...]:
        """Those that have ended: what an update under way will have done is not known."""
        return tuple(each for each in self._told if each.has_ended)

    @property
    def running(self) -> tuple[LockHolder, ...]:
        """Updates under way, which only a service records."""
        return tuple(
            LockHolder(update=f"{each.kind} {each.version}", timestamp=each.start_time)
            for each in self._told
            if each.result == _IN_PROGRESS or not each.end_time
        )

    @cached_property
    def saved_seconds(self) -> tuple[float, ...]:
        """When each change ended, to the second: the next one begins later."""
        return tuple(seconds_of(record.end_time) + 1 for record in self._records)

    def change(self, position: int) -> Change:
        """The record of one change."""
        record = self._records[position]
        return Change(
            kind=record.kind,
            result=record.result,
            start_time=int(seconds_of(record.start_time)),
            end_time=int(seconds_of(record.end_time)),
            message=record.message,
            resource_changes=record.resource_changes,
            environment=record.environment,
        )

    def checkpoint(self, position: int) -> Deployment | None:
        """The checkpoint that a change left; None where the backend does not give it out.

        The newest state may hold more than its change: what a run under way has done by now, or
        one that was killed before it was recorded. A copy that is kept here, or an older version
        of a service, holds what the update left.
        """
        name = identifier_of(self.change(position))
        kept = self._kept.deployment(name) if name else None
        if kept is not None:
            return kept
        version = self._records[position].version
        if position == len(self._records) - 1 and not (version and self.running):
            return self._current
        if not version:
            return None
        try:
            return self.stack.export(version)
        except EngineError:
            return None

    def pending(self) -> tuple[PendingOperation, ...]:
        """Operations of the newest checkpoint that were never recorded as done."""
        return self._current.pending_operations

    @property
    def _kept(self) -> KeptStates:
        return KeptStates.of(self.stack.runner.project.name, self.stack.name)

    @cached_property
    def _current(self) -> Deployment:
        return self.stack.export()
