"""Work on keys, a few at once, each key by one worker at a time; a failure concerns one key alone.

Source: controller-runtime, pkg/internal/controller: a queue, workers, recovered panics.
"""

import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from holdfast.controllers.runtime.queue import KeyedQueue

DRAIN_SECONDS: Final = 20.0
"""Work under way may take so long to end after a SIGTERM; a kubelet kills after 30 seconds."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class WorkOutcome:
    """What came of the work on a key.

    Attributes:
        is_done: Nothing is left to be retried.
        again_seconds: The key is worked on again after so long; None for only when asked for.
    """

    is_done: bool = True
    again_seconds: float | None = None


@dataclass(frozen=True)
class WorkResult(Generic[K]):
    """Work on a key has ended.

    Attributes:
        fault: The unforeseen exception that it ended in; None for none.
    """

    key: K
    outcome: WorkOutcome
    fault: Exception | None = None


Work = Callable[[K, tuple[str, ...]], WorkOutcome]
"""Takes a key, and why it is worked on."""


class WorkerPool(Generic[K]):
    """Begins work when it is due. For one thread, except for what the workers themselves run."""

    def __init__(
        self,
        work: Work[K],
        waiting: KeyedQueue[K],
        report: Callable[[WorkResult[K]], None],
        workers: int = 0,
    ) -> None:
        """Prepare.

        Args:
            work: Works on one key.
            waiting: Keys by when they are due.
            report: Takes each result, from the thread of the worker; it must lead to `end`.
            workers: Threads; 0 to work in the thread that calls `begin_due`, one key at a call.
        """
        self._work, self._queue, self._report = work, waiting, report
        self._under_way = 0
        self._most = workers or 1
        self._begun: queue.SimpleQueue[tuple[K, tuple[str, ...]] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name=f"worker {number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def __len__(self) -> int:
        """How many keys wait."""
        return len(self._queue)

    def ask(self, keys: Iterable[K], trigger: str = "", *, is_urgent: bool = False) -> None:
        """Ask for work; an urgent request ends the back-off after failures."""
        now = time.monotonic()
        for key in keys:
            self._queue.add(key, now, trigger, is_urgent=is_urgent)

    def begin_due(self) -> None:
        """Begin as much work as there is room for."""
        now = time.monotonic()
        while self._under_way < self._most and (key := self._queue.take(now)) is not None:
            self._under_way += 1
            triggers = self._queue.triggers(key)
            if not self._threads:
                self._report(self._result(key, triggers))
                return
            self._begun.put((key, triggers))

    def end(self, result: WorkResult[K]) -> float:
        """Take note of work that has ended; returns the seconds that its key backs off."""
        self._under_way -= 1
        is_done, again = result.outcome.is_done, result.outcome.again_seconds
        return self._queue.done(
            result.key, time.monotonic(), has_succeeded=is_done, again_seconds=again
        )

    def failures(self, key: K) -> int:
        """How often in a row a key has failed."""
        return self._queue.failures(key)

    def seconds_until_due(self) -> float | None:
        """How long until work can begin; None while there is none, or no room for it."""
        if self._under_way >= self._most:
            return None
        return self._queue.seconds_until_due(time.monotonic())

    def drain(self, deadline_seconds: float = DRAIN_SECONDS) -> bool:
        """Wait for the work under way; False when some of it was abandoned at the deadline."""
        end = time.monotonic() + deadline_seconds
        for _ in self._threads:
            self._begun.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        while (begun := self._begun.get()) is not None:
            self._report(self._result(*begun))

    def _result(self, key: K, triggers: tuple[str, ...]) -> WorkResult[K]:
        try:
            return WorkResult(key, self._work(key, triggers))
        except Exception as fault:
            # The failure of one key ends nothing else, and the loop's thread reports it.
            return WorkResult(key, WorkOutcome(is_done=False), fault)
