"""Who else writes what we put back: a breaker for each field. Pure.

Laws: a field that was put back five times within an hour is not put back again until a person or a
new commit closes its breaker; other fields of the same object are not touched by that; a time that
runs backwards opens nothing early.
"""

from collections import deque
from collections.abc import Collection, Hashable
from typing import Final, Generic, TypeVar

MOST_PUT_BACKS: Final = 5
WINDOW_SECONDS: Final = 3600.0

K = TypeVar("K", bound=Hashable)


class ConflictBreaker(Generic[K]):
    """Counts how often fields were put back; a key is an object and a field path."""

    def __init__(self, most: int = MOST_PUT_BACKS, window_seconds: float = WINDOW_SECONDS) -> None:
        self._most = most
        self._window_seconds = window_seconds
        self._put_back: dict[K, deque[float]] = {}
        self._open: dict[K, float] = {}
        self._next_sweep = float("-inf")

    def note(self, key: K, now: float) -> bool:
        """Note that a field was put back; returns whether that has opened its breaker."""
        self._sweep(now)
        times = self._put_back.setdefault(key, deque(maxlen=self._most))
        times.append(now)
        is_fight = len(times) == self._most and now - times[0] <= self._window_seconds
        if not is_fight or key in self._open:
            return False
        self._open[key] = now
        return True

    def open(self, key: K, now: float) -> None:
        """Go on from a breaker that an earlier process has opened."""
        self._open.setdefault(key, now)

    def _sweep(self, now: float) -> None:
        """Forget what was put back longer ago than the window, once in each window."""
        if now < self._next_sweep:
            return
        self._next_sweep = now + self._window_seconds
        oldest = now - self._window_seconds
        self._put_back = {
            key: times for key, times in self._put_back.items() if times[-1] >= oldest
        }

    def __len__(self) -> int:
        """How many fields are remembered."""
        return len(self._put_back)

    def is_open(self, key: K) -> bool:
        """Whether a field must only be reported."""
        return key in self._open

    @property
    def open_keys(self) -> Collection[K]:
        """Every field that is fought over, the longest first."""
        return tuple(self._open)

    def close(self, key: K) -> bool:
        """Forget one fight; returns whether there was one."""
        self._put_back.pop(key, None)
        return self._open.pop(key, None) is not None

    def close_all(self) -> int:
        """Forget every fight, for a new commit says anew what is wanted; returns how many."""
        count = len(self._open)
        self._put_back.clear()
        self._open.clear()
        return count
