"""How long to wait after failures, and how many requests to send at a time.

Waits grow by a factor up to a bound and differ a little, so that clients which failed together do
not return together. A server that answers 429 is overloaded by all its clients together: half as
many requests at a time let it recover, and successes give them back.
Source: client-go, `wait.Backoff` and the reflector's 0.8 s to 30 s.
"""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

LONGEST_ASKED_WAIT_SECONDS: Final = 60.0
"""A server that asks for more in `Retry-After` gets this much."""

_MOST_GROWTH_STEPS: Final = 64


@dataclass(frozen=True)
class Backoff:
    """A policy.

    Attributes:
        first_seconds: After the first failure.
        longest_seconds: After any number of failures, before jitter.
        factor: By which each further failure lengthens the wait.
        jitter: Share by which a wait may be shorter or longer; 0 for none.
    """

    first_seconds: float
    longest_seconds: float
    factor: float = 2.0
    jitter: float = 0.2

    def seconds(self, failures: int) -> float:
        """The wait after this many failures in a row; 0 after none."""
        if failures <= 0:
            return 0.0
        growth = self.factor ** min(failures - 1, _MOST_GROWTH_STEPS)
        return spread(min(self.first_seconds * growth, self.longest_seconds), self.jitter)


def spread(seconds: float, share: float) -> float:
    """A duration that differs at each call by at most this share, up or down."""
    if not share:
        return seconds
    return seconds * random.uniform(1 - share, 1 + share)  # noqa: S311  (no secret depends on it)


REQUESTS: Final = Backoff(0.2, 10.0)
"""Between two tries of one request."""

STREAMS: Final = Backoff(0.8, 30.0)
"""Between two LISTs or WATCHes of one reflector that failed or ended at once."""

CONFLICTS: Final = Backoff(0.05, 1.0, jitter=0.5)
"""Between two tries of a write that met a conflict."""

OBJECTS: Final = Backoff(2.0, 300.0, factor=3.0, jitter=0.0)
"""Between two attempts to reconcile one key."""

READS: Final = Backoff(1.0, 60.0, jitter=0.0)
"""Between two attempts to read one object that a watch has to judge."""

STARTS: Final = Backoff(2.0, 20.0, factor=3.0, jitter=0.0)
"""Between two tries to begin while the API server does not answer."""

THREADS: Final = Backoff(1.0, 60.0)
"""Between two starts of a supervised thread."""


def request_wait_seconds(failures: int, asked_seconds: float = 0.0) -> float:
    """The wait before the next try of one request.

    Args:
        failures: In a row, at least one.
        asked_seconds: What the server asks for in `Retry-After`; 0 when it does not say.
    """
    if asked_seconds:
        return min(asked_seconds, LONGEST_ASKED_WAIT_SECONDS)
    return REQUESTS.seconds(failures)


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
                raise TimeoutError("too many requests are under way")
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
