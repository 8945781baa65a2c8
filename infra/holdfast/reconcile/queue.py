"""Keys to work on: each once however often it is asked for, later and later after failures. Pure.

Laws, on any clock that does not run backwards: a key is worked on by one at a time; what is asked
for while it is worked on is done once more afterwards, never lost; two beginnings on one key are
at least `least_seconds` apart; after the n-th failure in a row it rests 2 s x 3^(n-1), at most
300 s, and a success ends that.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

FIRST_REST_SECONDS: Final = 2.0
REST_FACTOR: Final = 3.0
LONGEST_REST_SECONDS: Final = 300.0
_MOST_DOUBLINGS: Final = 8

K = TypeVar("K", bound=Hashable)


def rest_seconds(failures: int) -> float:
    """How long a key rests after so many failures in a row."""
    if failures <= 0:
        return 0.0
    growth = REST_FACTOR ** min(failures - 1, _MOST_DOUBLINGS)
    return min(FIRST_REST_SECONDS * growth, LONGEST_REST_SECONDS)


@dataclass
class _Key:
    """What is known of one key; `due` is None when nobody asks for it."""

    due: float | None = None
    last_begin: float = float("-inf")
    rests_until: float = float("-inf")
    failures: int = 0
    is_worked_on: bool = False


class KeyedQueue(Generic[K]):
    """Keys by when they may be worked on. Not for several threads at once."""

    def __init__(self, least_seconds: float = 0.0) -> None:
        """Make an empty queue.

        Args:
            least_seconds: Between two beginnings on one key.
        """
        self._least_seconds = least_seconds
        self._keys: dict[K, _Key] = {}

    def __len__(self) -> int:
        """How many keys are asked for."""
        return sum(known.due is not None for known in self._keys.values())

    def add(self, key: K, now: float, *, is_urgent: bool = False) -> None:
        """Ask for a key.

        Args:
            key: To work on.
            now: The time.
            is_urgent: Its rest after failures is over: a person, or a new commit, asks.
        """
        known = self._keys.setdefault(key, _Key())
        if is_urgent:
            known.rests_until = float("-inf")
            known.failures = 0
        earliest = max(now, known.rests_until, known.last_begin + self._least_seconds)
        known.due = earliest if known.due is None else min(known.due, earliest)

    def take(self, now: float) -> K | None:
        """Begin on the key that has been due for longest; None when none is due."""
        due = [
            (known.due, order)
            for order, known in enumerate(self._keys.values())
            if known.due is not None and known.due <= now and not known.is_worked_on
        ]
        if not due:
            return None
        key = list(self._keys)[min(due)[1]]
        known = self._keys[key]
        known.due, known.last_begin, known.is_worked_on = None, now, True
        return key

    def done(self, key: K, now: float, *, has_succeeded: bool) -> float:
        """End the work on a key; a failure asks for it again.

        Returns:
            Seconds that it rests; 0 after a success.
        """
        known = self._keys[key]
        known.is_worked_on = False
        if has_succeeded:
            known.failures = 0
            known.rests_until = float("-inf")
            return 0.0
        known.failures += 1
        rest = rest_seconds(known.failures)
        known.rests_until = now + rest
        known.due = now + rest
        return rest

    def seconds_until_due(self, now: float) -> float | None:
        """How long until a key may be taken; None when none is asked for."""
        due = [
            known.due
            for known in self._keys.values()
            if known.due is not None and not known.is_worked_on
        ]
        return max(0.0, min(due) - now) if due else None

    def failures(self, key: K) -> int:
        """How often in a row a key has failed."""
        return self._keys[key].failures if key in self._keys else 0
