"""Changes that wait to be judged: of each object its versions since it was judged last."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from holdfast.adapters.cluster.backoff import READS
from holdfast.controllers.runtime.queue import KeyedQueue
from holdfast.kube.objects import Identity, KubeObject

QUIET_SECONDS: Final = 0.1
"""A change waits for the next one: what belongs together is judged together."""

LONGEST_WAIT_SECONDS: Final = 1.2
"""However many changes there are: no judgement is put off for longer."""

MOST_VERSIONS: Final = 8


@dataclass(frozen=True)
class Version:
    """An object as it was at a time.

    Attributes:
        live: None when it was deleted.
        seconds: Monotonic time at which the change arrived.
    """

    live: KubeObject | None
    seconds: float


@dataclass
class Task:
    """One object to judge.

    Attributes:
        first_event_at: Monotonic time of the first change since it was judged last.
        versions: What it was like, oldest first; the middle is dropped when there are many. Empty
            when it has to be read first.
        changes: How many there were.
    """

    identity: Identity
    first_event_at: float
    versions: list[Version] = field(default_factory=list)
    changes: int = 0

    @property
    def latest(self) -> Version | None:
        """The newest version; None when none is known."""
        return self.versions[-1] if self.versions else None


class PendingChanges:
    """Objects to judge, by when they are due."""

    def __init__(self) -> None:
        self._queue: KeyedQueue[Identity] = KeyedQueue(
            0.0, QUIET_SECONDS, LONGEST_WAIT_SECONDS, READS
        )
        self._tasks: dict[Identity, Task] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def add(self, identity: Identity, version: Version) -> None:
        """Note that an object changed; that ends its back-off, for it need not be read."""
        task = self._task(identity, version.seconds)
        task.changes += 1
        if len(task.versions) == MOST_VERSIONS:
            del task.versions[MOST_VERSIONS // 2]
        task.versions.append(version)
        self._queue.add(identity, version.seconds, is_urgent=True)

    def add_unread(self, identity: Identity, now: float) -> None:
        """Note that an object has to be judged although it did not change."""
        self._task(identity, now)
        self._queue.add(identity, now)

    def _task(self, identity: Identity, now: float) -> Task:
        return self._tasks.setdefault(identity, Task(identity, now))

    def take_due(self, now: float, *, is_forced: bool = False) -> Iterator[Task]:
        """Take the tasks whose time has come; each must be ended with `done`.

        Args:
            now: The time.
            is_forced: All tasks, due or not.
        """
        for _ in range(len(self._tasks)):
            identity = self._queue.take(now, is_forced=is_forced)
            if identity is None:
                return
            yield self._tasks.pop(identity)

    def done(self, task: Task, now: float, *, has_succeeded: bool) -> None:
        """End a task; one that failed comes back later each time, and is read then."""
        if not has_succeeded:
            self._task(task.identity, task.first_event_at)
        self._queue.done(task.identity, now, has_succeeded=has_succeeded)

    def seconds_until_due(self, now: float) -> float | None:
        """How long until the next task is due; None when there is none."""
        return self._queue.seconds_until_due(now)
