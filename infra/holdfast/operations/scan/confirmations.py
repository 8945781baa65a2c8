"""Which recreated objects an update or a recorded action of ours has confirmed.

A recreated object is drift: its data may be gone, and another client may have made it. It is
confirmed by a successful update that began after its creation, and by the stack's own actions: a
revert records the uids that it created, a recreation or restore the agents and its duration.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.state.history import History
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.files import state_directory
from holdfast.adapters.journal.updates import UpdateJournal
from holdfast.drift.context import uid_of
from holdfast.errors import HoldfastError
from holdfast.kube.objects import mapping_at
from holdfast.kube.scalars import parse_timestamp
from holdfast.manifest.types.marks import agent_of

_RECREATING: Final = frozenset({"recreate", "restore"})
_SLACK: Final = timedelta(seconds=1)
"""The server writes times of creation in whole seconds."""


@dataclass(frozen=True)
class Confirmations:
    """What confirms the objects of one stack; read when an object was recreated.

    Attributes:
        read_history: The engine's history.
        read_records: The stack's own journal.
    """

    read_history: Callable[[], History]
    read_records: Callable[[], Sequence[UpdateRecord]]

    def __call__(self, live: Mapping[str, Any]) -> bool:
        """Whether an object has been confirmed since it was created."""
        created = str(mapping_at(live, "metadata").get("creationTimestamp") or "")
        try:
            moment = parse_timestamp(created)
            return self._last_update_seconds > moment.timestamp() or any(
                _confirms(record, live, moment) for record in self.read_records()
            )
        except (ValueError, HoldfastError):
            return False  # what cannot be read confirms nothing

    @cached_property
    def _last_update_seconds(self) -> float:
        """When the last successful update began, in seconds since 1970; 0 without one."""
        history = self.read_history()
        for position in range(len(history.saved_seconds) - 1, -1, -1):
            change = history.change(position)
            if change.kind == "update" and change.succeeded:
                return change.start_time
        return 0


def journal_records(project_root: Path, stack: str) -> list[UpdateRecord]:
    """What the stack's own journal holds.

    Raises:
        JournalError: the file cannot be read.
    """
    project = read_project(project_root).name
    return UpdateJournal.of(state_directory(), project, stack).records()


def _confirms(record: UpdateRecord, live: Mapping[str, Any], created: datetime) -> bool:
    if uid_of(live) in record.confirmed:
        return True
    if record.action not in _RECREATING or agent_of(live) not in (record.agents or ()):
        return False
    began = parse_timestamp(record.started_at)
    ended = began + timedelta(seconds=record.seconds)
    return began - _SLACK <= created <= ended + _SLACK
