"""How hard a server is asked: few requests at a time, fewer when it says so, waits that differ.

A server that answers 429 is overloaded by all its clients together: half as many requests at once
and waits that are not the same everywhere let it recover. Every success gives a little back.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FIRST_WAIT_SECONDS: Final = 0.2
LONGEST_WAIT_SECONDS: Final = 10.0
LONGEST_ASKED_WAIT_SECONDS: Final = 60.0
JITTER: Final = 0.2
SUCCESSES_FOR_ONE_MORE: Final = 20


class Pace:
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
    def turn(self) -> Iterator[None]:
        """Wait until one more request may be sent."""
        with self._free:
            self._free.wait_for(lambda: self._under_way < self.limit)
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


def wait_seconds(failures: int, asked_seconds: float = 0.0) -> float:
    """How long to wait after so many failures in a row.

    Args:
        failures: At least one.
        asked_seconds: What the server asks for in `Retry-After`; 0 when it says nothing.
    """
    if asked_seconds:
        return min(asked_seconds, LONGEST_ASKED_WAIT_SECONDS)
    doubled = min(FIRST_WAIT_SECONDS * 2.0 ** min(failures - 1, 10), LONGEST_WAIT_SECONDS)
    return doubled * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  (nothing is secret here)
