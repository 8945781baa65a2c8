"""Keys to work on: each once however often it is asked for, later and later after failures. Pure.

Laws, on any clock that does not run backwards: a key is worked on by one at a time; what is asked
for while it is worked on is done once more afterwards, never lost; two beginnings on one key are
at least `least_seconds` apart; while it is asked for again and again the work waits for the asking
to pause, but no longer than a bound; every trigger that asked for a key is told with the work on
it, as far as there are not too many; after the n-th failure in a row it rests 2 s x 3^(n-1), at
most 300 s, and a success ends that.
"""

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

FIRST_REST_SECONDS: Final = 2.0
REST_FACTOR: Final = 3.0
LONGEST_REST_SECONDS: Final = 300.0
_MOST_DOUBLINGS: Final = 8
MOST_TRIGGERS: Final = 10

K = TypeVar("K", bound=Hashable)


def rest_seconds(failures: int) -> float:
    """How long a key rests after so many failures in a row."""
    if failures <= 0:
        return 0.0
    growth = REST_FACTOR ** min(failures - 1, _MOST_DOUBLINGS)
    return min(FIRST_REST_SECONDS * growth, LONGEST_REST_SECONDS)


@dataclass
class _Key:
    """What is known of one key.

    Attributes:
        order: Of the keys that are due at the same time the one that came first.
        due: None when nobody asks for it.
        asked: When it was asked for first, since it was worked on.
        triggers: Why it is asked for, each once, in order.
        taken: Why it was asked for when the work began.
    """

    order: int
    due: float | None = None
    asked: float = 0.0
    last_begin: float = float("-inf")
    rests_until: float = float("-inf")
    failures: int = 0
    is_worked_on: bool = False
    triggers: dict[str, None] = field(default_factory=dict)
    taken: tuple[str, ...] = ()


class KeyedQueue(Generic[K]):
    """Keys by when they may be worked on. Not for several threads at once."""

    def __init__(
        self, least_seconds: float = 0.0, quiet_seconds: float = 0.0, longest_seconds: float = 0.0
    ) -> None:
        """Make an empty queue.

        Args:
            least_seconds: Between two beginnings on one key.
            quiet_seconds: Asking has paused when nobody asked for so long.
            longest_seconds: It is not waited for longer than so long.
        """
        self._least_seconds = least_seconds
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._keys: dict[K, _Key] = {}
        # Times at which keys are due, also such as no longer hold: those are passed over.
        self._times: list[tuple[float, int, K]] = []

    def __len__(self) -> int:
        """How many keys are asked for."""
        return sum(known.due is not None for known in self._keys.values())

    def add(self, key: K, now: float, trigger: str = "", *, is_urgent: bool = False) -> None:
        """Ask for a key.

        Args:
            key: To work on.
            now: The time.
            trigger: Why, where that is to be told.
            is_urgent: Its rest after failures is over: a person, or a new commit, asks.
        """
        known = self._keys.get(key)
        if known is None:
            known = self._keys[key] = _Key(len(self._keys))
        if is_urgent:
            known.rests_until = float("-inf")
            known.failures = 0
        if trigger and len(known.triggers) < MOST_TRIGGERS:
            known.triggers[trigger] = None
        earliest = max(now, known.rests_until, known.last_begin + self._least_seconds)
        if known.due is None:
            known.asked = now
        elif not self._quiet_seconds:
            earliest = min(known.due, earliest)
        paused = min(now + self._quiet_seconds, known.asked + self._longest_seconds)
        self._ask(key, known, max(earliest, paused))

    def take(self, now: float) -> K | None:
        """Begin on the key that has been due for longest; None when none is due."""
        first = self._first()
        if first is None or first[0] > now:
            return None
        _, _, key = heapq.heappop(self._times)
        known = self._keys[key]
        known.due, known.last_begin, known.is_worked_on = None, now, True
        known.taken, known.triggers = tuple(known.triggers), {}
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
            if known.due is not None:
                self._ask(key, known, known.due)
            return 0.0
        known.failures += 1
        rest = rest_seconds(known.failures)
        known.rests_until = now + rest
        self._ask(key, known, now + rest)
        known.triggers = dict.fromkeys((*known.taken, *known.triggers))
        return rest

    def seconds_until_due(self, now: float) -> float | None:
        """How long until a key may be taken; None when none is asked for."""
        first = self._first()
        return None if first is None else max(0.0, first[0] - now)

    def _ask(self, key: K, known: _Key, due: float) -> None:
        known.due = due
        heapq.heappush(self._times, (due, known.order, key))

    def _first(self) -> tuple[float, int, K] | None:
        """The key to be taken next; what is worked on is asked for again when that ends."""
        while self._times:
            due, _, key = self._times[0]
            known = self._keys[key]
            if known.due == due and not known.is_worked_on:
                return self._times[0]
            heapq.heappop(self._times)
        return None

    def triggers(self, key: K) -> tuple[str, ...]:
        """Why the key was asked for that was taken last."""
        return self._keys[key].taken if key in self._keys else ()

    def failures(self, key: K) -> int:
        """How often in a row a key has failed."""
        return self._keys[key].failures if key in self._keys else 0
