"""The loop of every controller: one thread takes messages, fires timers and does what is due.

Reflectors, workers and signal handlers only post. What the loop's thread owns needs no lock.
"""

import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from holdfast.adapters.cluster.backoff import spread

POLL_SECONDS: Final = 0.5
MOST_MESSAGES: Final = 1000
"""Taken at once, so that the loop gets to act."""

Message = TypeVar("Message")


@dataclass
class _Timer:
    """Something that is done again and again.

    Attributes:
        jitter: Share by which a period may be shorter or longer.
        next_at: Monotonic time.
    """

    period_seconds: Callable[[], float]
    do: Callable[[], None]
    jitter: float
    next_at: float

    def plan(self) -> None:
        self.next_at = time.monotonic() + spread(self.period_seconds(), self.jitter)


class EventLoop(Generic[Message]):
    """Goes round until it is stopped."""

    def __init__(
        self,
        take: Callable[[Message], None],
        turn: Callable[[], float | None] = lambda: None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            take: Takes one message, in the thread that runs the loop.
            turn: Called after each batch of messages: does what is due, and returns after how many
                seconds it wants to be called again; None for no matter when.
            poll_seconds: It is called at least that often.
        """
        self._take, self._turn, self._poll_seconds = take, turn, poll_seconds
        self._inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._timers: list[_Timer] = []
        self._turned_at = time.monotonic()
        self.is_stopping = False

    def post(self, message: Message) -> None:
        """Hand the loop a message; from any thread."""
        self._inbox.put(message)

    def stop(self) -> None:
        """End the loop in order; from any thread, and from a signal handler."""
        self.is_stopping = True
        self._inbox.put(None)

    def every(
        self,
        period_seconds: Callable[[], float],
        do: Callable[[], None],
        *,
        jitter: float = 0.0,
        at_once: bool = False,
    ) -> None:
        """Do something again and again, in the thread that runs the loop.

        Args:
            period_seconds: Asked for each period.
            do: What is done.
            jitter: Share by which a period may be shorter or longer, so that controllers that began
                together do not act together.
            at_once: The first time when the loop begins, else after one period.
        """
        timer = _Timer(period_seconds, do, jitter, time.monotonic())
        if not at_once:
            timer.plan()
        self._timers.append(timer)

    @property
    def seconds_since_turn(self) -> float:
        """How long the loop has not gone round."""
        return time.monotonic() - self._turned_at

    def run(self) -> None:
        """Go round until stopped."""
        wait: float | None = 0.0
        while not self.is_stopping:
            self._turned_at = time.monotonic()
            for message in self._messages(self._wait_seconds(wait)):
                if message is not None:
                    self._take(message)
            for timer in self._timers:
                if timer.next_at <= time.monotonic() and not self.is_stopping:
                    timer.do()
                    timer.plan()
            wait = None if self.is_stopping else self._turn()

    def rest(self, seconds: float) -> bool:
        """Wait before the loop runs; whether it is to go on."""
        for _ in self._messages(seconds, most=1):
            pass  # only that it is to stop
        self._turned_at = time.monotonic()
        return not self.is_stopping

    def _wait_seconds(self, wanted: float | None) -> float:
        now = time.monotonic()
        waits = [self._poll_seconds, *(timer.next_at - now for timer in self._timers)]
        return max(0.001, min([*waits, *([] if wanted is None else [wanted])]))

    def _messages(self, wait_seconds: float, most: int = MOST_MESSAGES) -> Iterator[Message | None]:
        """What was posted, waiting for the first message; the rest stays for the next round."""
        try:
            yield self._inbox.get(timeout=wait_seconds)
            for _ in range(most - 1):
                yield self._inbox.get_nowait()
        except queue.Empty:
            return
