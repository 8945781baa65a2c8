"""A queue of objects to look at, each in it at most once: many changes of one object, one look.

A change waits a moment for the next one; while changes keep coming the object waits on, but never
longer than a bound. What could not be looked at comes back later and later.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from holdfast.kube.objects import Identity, KubeObject

QUIET_SECONDS: Final = 0.1
LONGEST_WAIT_SECONDS: Final = 1.2
MOST_VERSIONS: Final = 8
FIRST_RETRY_SECONDS: Final = 1.0
LONGEST_RETRY_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Version:
    """An object as it was at a time.

    Attributes:
        live: None when it was deleted.
        seconds: Monotonic time at which it was heard of.
    """

    live: KubeObject | None
    seconds: float


@dataclass
class Task:
    """One object to look at.

    Attributes:
        versions: What it was like, oldest first; the middle is dropped when there are many. Empty
            when it has to be read first.
        changes: How many changes were heard of.
        due: Monotonic time from which it may be taken.
    """

    identity: Identity
    heard: float
    due: float
    versions: list[Version] = field(default_factory=list)
    changes: int = 0

    @property
    def latest(self) -> Version | None:
        """The newest version; None when none was heard of."""
        return self.versions[-1] if self.versions else None


class WorkQueue:
    """Objects to look at, by when they are due."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[Identity, Task] = OrderedDict()
        self._failures: dict[Identity, int] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def add(self, identity: Identity, version: Version) -> None:
        """Note that an object changed."""
        task = self._task(identity, version.seconds)
        task.changes += 1
        if len(task.versions) == MOST_VERSIONS:
            del task.versions[MOST_VERSIONS // 2]
        task.versions.append(version)
        task.due = min(version.seconds + QUIET_SECONDS, task.heard + LONGEST_WAIT_SECONDS)

    def add_unread(self, identity: Identity, now: float) -> None:
        """Note that an object has to be looked at although it did not change."""
        self._task(identity, now)

    def _task(self, identity: Identity, now: float) -> Task:
        if identity not in self._tasks:
            self._tasks[identity] = Task(identity, heard=now, due=now + QUIET_SECONDS)
        return self._tasks[identity]

    def retry(self, identity: Identity, now: float) -> None:
        """Look again later at what could not be read: each time after a longer wait."""
        failures = self._failures[identity] = self._failures.get(identity, 0) + 1
        wait = min(FIRST_RETRY_SECONDS * 2.0 ** min(failures - 1, 10), LONGEST_RETRY_SECONDS)
        self._task(identity, now).due = now + wait

    def forget_failures(self, identity: Identity) -> None:
        """The object was read: its next failure is its first."""
        self._failures.pop(identity, None)

    def take_due(self, now: float) -> Iterator[Task]:
        """Take every task whose time has come."""
        for task in [task for task in self._tasks.values() if task.due <= now]:
            del self._tasks[task.identity]
            yield task

    def take_all(self) -> Iterator[Task]:
        """Take every task, due or not."""
        while self._tasks:
            yield self._tasks.popitem(last=False)[1]

    def discard(self) -> None:
        """Drop every task: all of it will be read anew."""
        self._tasks.clear()

    def seconds_until_due(self, now: float) -> float | None:
        """How long until the next task is due; None when there is none."""
        first = min((task.due for task in self._tasks.values()), default=None)
        return None if first is None else max(0.0, first - now)
