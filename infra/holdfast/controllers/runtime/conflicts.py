"""Field-ownership conflicts: a breaker for each field that other clients keep writing. Pure.

Laws: a field that was reverted five times within an hour is in conflict until a person or a new
commit closes its breaker: it is only reported, or reverted more slowly where it is critical; other
fields of the same object are not touched by that; a time that runs backwards opens nothing early.
"""

from collections import deque
from collections.abc import Collection, Hashable
from typing import Final, Generic, TypeVar

MOST_REVERTS: Final = 5
WINDOW_SECONDS: Final = 3600.0
REST_SECONDS: Final = 30.0
"""Between two reverts of a field in conflict, where it cannot be left as it is."""

K = TypeVar("K", bound=Hashable)


class ConflictBreaker(Generic[K]):
    """Counts how often fields were reverted; a key is an object and a field path."""

    def __init__(self, most: int = MOST_REVERTS, window_seconds: float = WINDOW_SECONDS) -> None:
        self._most = most
        self._window_seconds = window_seconds
        self._reverted: dict[K, deque[float]] = {}
        self._open: dict[K, float] = {}
        self._next_sweep = float("-inf")

    def note(self, key: K, now: float) -> bool:
        """Note that a field was reverted; returns whether that has opened its breaker."""
        self._sweep(now)
        times = self._reverted.setdefault(key, deque(maxlen=self._most))
        times.append(now)
        is_conflict = len(times) == self._most and now - times[0] <= self._window_seconds
        if not is_conflict or key in self._open:
            return False
        self._open[key] = now
        return True

    def has_rested(self, key: K, now: float) -> bool:
        """Whether a field was last reverted long enough ago to be reverted again, if it must be."""
        times = self._reverted.get(key)
        return not times or now - times[-1] >= REST_SECONDS

    def open(self, key: K, now: float) -> None:
        """Go on from a breaker that an earlier process has opened."""
        self._open.setdefault(key, now)

    def _sweep(self, now: float) -> None:
        """Forget what was reverted longer ago than the window, once in each window."""
        if now < self._next_sweep:
            return
        self._next_sweep = now + self._window_seconds
        oldest = now - self._window_seconds
        self._reverted = {
            key: times for key, times in self._reverted.items() if times[-1] >= oldest
        }

    def __len__(self) -> int:
        """How many fields are remembered."""
        return len(self._reverted)

    def is_open(self, key: K) -> bool:
        """Whether a field must only be reported."""
        return key in self._open

    @property
    def open_keys(self) -> Collection[K]:
        """Every field in conflict, the longest first."""
        return tuple(self._open)

    def close(self, key: K) -> bool:
        """End one conflict; returns whether there was one."""
        self._reverted.pop(key, None)
        return self._open.pop(key, None) is not None

    def close_all(self) -> int:
        """End every conflict, as a new commit does; returns how many there were."""
        count = len(self._open)
        self._reverted.clear()
        self._open.clear()
        return count
