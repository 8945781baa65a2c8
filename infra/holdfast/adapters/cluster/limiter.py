"""How many requests are sent to a server at a time: fewer when it says that it is overloaded.

A server that answers 429 is overloaded by all its clients together: half as many requests at once
let it recover. Every success gives a little back.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SUCCESSES_FOR_ONE_MORE: Final = 20


class ConcurrencyLimiter:
    """Admits a number of requests at a time; safe to use from several threads.

    Attributes:
        limit: How many may be under way now.
    """

    def __init__(self, most: int) -> None:
        self.limit = self._most = most
        self._under_way = 0
        self._successes = 0
        self._free = threading.Condition()

    @contextmanager
    def acquire(self, deadline: float | None = None) -> Iterator[None]:
        """Wait until one more request may be sent.

        Args:
            deadline: Monotonic time until which to wait; None without a limit.

        Raises:
            TimeoutError: no request ended in time.
        """
        with self._free:
            seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._free.wait_for(lambda: self._under_way < self.limit, seconds):
                raise TimeoutError("all requests that may be under way still are")
            self._under_way += 1
        try:
            yield
        finally:
            with self._free:
                self._under_way -= 1
                self._free.notify()

    def slow_down(self) -> None:
        """Halve what may be under way: the server said that it is too much."""
        with self._free:
            self.limit = max(1, self.limit // 2)
            self._successes = 0

    def note_success(self) -> None:
        """Give one back after many successes."""
        with self._free:
            self._successes += 1
            if self.limit < self._most and self._successes >= SUCCESSES_FOR_ONE_MORE:
                self.limit += 1
                self._successes = 0
                self._free.notify()
