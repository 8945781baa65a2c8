"""Looks under way: a few at once beside one another, each agent by one at a time.

Nobody waits for the slowest: a look that ends makes room for the next. How it ended is told where
the loop hears of everything else, so that the queue belongs to one thread.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from holdfast.controllers.operator.declaration import Declaration
from holdfast.controllers.runtime.queue import KeyedQueue
from holdfast.manifest.fleet.resource_fleet import Place

WORKERS: Final = 8
"""As many as there are connections: more would wait for one another."""

QUIET_SECONDS: Final = 0.1
"""A change waits for the next one: what one hand does at once is one look."""

LONGEST_WAIT_SECONDS: Final = 1.2
"""However many changes there are: a look is not put off for longer."""

LEAST_SECONDS: Final = 0.5
"""Between two looks at one agent."""


@dataclass(frozen=True)
class ReconcileResult:
    """A look has ended.

    Attributes:
        is_done: Nothing is left to be tried again.
        fault: The exception that it ended in, if it did: it concerns this agent alone.
    """

    place: Place
    is_done: bool = False
    fault: BaseException | None = None


Look = Callable[[Place, Declaration, tuple[str, ...]], bool]


class WorkerPool:
    """Begins looks when they are due; for one thread, but that which looks."""

    def __init__(self, look: Look, tell: Callable[[ReconcileResult], None]) -> None:
        """Prepare to look.

        Args:
            look: Looks at one agent, given why; whether nothing is left to be tried again.
            tell: Hears of every look that ended, from another thread.
        """
        self._look = look
        self._tell = tell
        self._queue: KeyedQueue[Place] = KeyedQueue(
            LEAST_SECONDS, QUIET_SECONDS, LONGEST_WAIT_SECONDS
        )
        self._under_way = 0
        self._workers = ThreadPoolExecutor(WORKERS, "look")

    def __len__(self) -> int:
        """How many agents wait for a look."""
        return len(self._queue)

    def ask(self, places: Iterable[Place], trigger: str, *, is_urgent: bool = False) -> None:
        """Ask for a look; at a resource that somebody changed, also where the last one failed."""
        now = time.monotonic()
        for place in places:
            self._queue.add(place, now, trigger, is_urgent=is_urgent)

    def begin_due(self, declaration: Declaration) -> None:
        """Begin as many looks as there is room for."""
        now = time.monotonic()
        while self._under_way < WORKERS and (place := self._queue.take(now)) is not None:
            self._under_way += 1
            self._workers.submit(self._run, place, declaration, self._queue.triggers(place))

    def end(self, looked: ReconcileResult) -> None:
        """Take note of a look that has ended; one that failed is tried again later."""
        self._under_way -= 1
        self._queue.done(looked.place, time.monotonic(), has_succeeded=looked.is_done)

    def seconds_until_due(self) -> float | None:
        """How long until one can begin; None while there is none, or no room for it."""
        if self._under_way >= WORKERS:
            return None
        return self._queue.seconds_until_due(time.monotonic())

    def finish(self) -> None:
        """Wait for what is under way."""
        self._workers.shutdown()

    def _run(self, place: Place, declaration: Declaration, triggers: tuple[str, ...]) -> None:
        try:
            looked = ReconcileResult(place, is_done=self._look(place, declaration, triggers))
        except BaseException as fault:
            # The failure of one agent ends nothing else, and the loop's thread reports it.
            looked = ReconcileResult(place, fault=fault)
        self._tell(looked)
