"""Keys to work on: each once however often it is asked for, later and later after failures. Pure.

Laws, on any clock that does not run backwards: a key is worked on by one at a time; what is asked
for while it is worked on is done once more afterwards, never lost; two beginnings on one key are
at least `least_seconds` apart; while it is asked for again and again the work waits for the asking
to pause, but no longer than a bound; every trigger that asked for a key is reported with the work
on it, as far as there are not too many; after failures in a row a key backs off, and a success
ends that; a key that is idle is forgotten. Source: client-go, util/workqueue.
"""

import heapq
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Generic, TypeVar

from holdfast.adapters.cluster.backoff import OBJECTS, Backoff

MOST_TRIGGERS: Final = 10

K = TypeVar("K", bound=Hashable)


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
        self,
        least_seconds: float = 0.0,
        quiet_seconds: float = 0.0,
        longest_seconds: float = 0.0,
        backoff: Backoff = OBJECTS,
    ) -> None:
        """Make an empty queue.

        Args:
            least_seconds: Between two beginnings on one key.
            quiet_seconds: Asking has paused when there was none for so long.
            longest_seconds: It is not waited for longer than so long.
            backoff: How long a key rests after failures in a row.
        """
        self._least_seconds = least_seconds
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._backoff = backoff
        self._keys: dict[K, _Key] = {}
        self._orders = count()
        # Times at which keys are due, also such as no longer hold: those are skipped.
        self._times: list[tuple[float, int, K]] = []
        # Keys that may be forgotten, and from when on: the least distance is kept until then.
        self._idle: deque[tuple[float, K]] = deque()

    @property
    def known(self) -> int:
        """How many keys are remembered: asked for, worked on, resting or just done."""
        return len(self._keys)

    def __len__(self) -> int:
        """How many keys are asked for."""
        return sum(known.due is not None for known in self._keys.values())

    def add(self, key: K, now: float, trigger: str = "", *, is_urgent: bool = False) -> None:
        """Ask for a key.

        Args:
            key: To work on.
            now: The time.
            trigger: Why.
            is_urgent: Its rest after failures is over: a person, or a new commit, asks.
        """
        self._forget_idle(now)
        known = self._keys.get(key)
        if known is None:
            known = self._keys[key] = _Key(next(self._orders))
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
        due = max(earliest, paused)
        if due != known.due:
            self._ask(key, known, due)

    def take(self, now: float, *, is_forced: bool = False) -> K | None:
        """Begin on the key that has been due for longest; None when none is due.

        Args:
            now: The time.
            is_forced: Also one that is not due yet.
        """
        self._forget_idle(now)
        first = self._first()
        if first is None or (first[0] > now and not is_forced):
            return None
        _, _, key = heapq.heappop(self._times)
        known = self._keys[key]
        known.due, known.last_begin, known.is_worked_on = None, now, True
        known.taken, known.triggers = tuple(known.triggers), {}
        return key

    def done(
        self, key: K, now: float, *, has_succeeded: bool, again_seconds: float | None = None
    ) -> float:
        """End the work on a key; a failure asks for it again.

        Args:
            key: That was worked on.
            now: The time.
            has_succeeded: Else it backs off.
            again_seconds: After a success it is due again after so long; None for not.

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
            elif again_seconds is not None:
                known.asked = now + again_seconds
                known.triggers = dict.fromkeys(known.taken)
                self._ask(key, known, now + again_seconds)
            else:
                self._idle.append((known.last_begin + self._least_seconds, key))
            return 0.0
        known.failures += 1
        rest = self._backoff.seconds(known.failures)
        known.rests_until = known.asked = now + rest
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
            known = self._keys.get(key)
            if known is not None and known.due == due and not known.is_worked_on:
                return self._times[0]
            heapq.heappop(self._times)
        return None

    def _forget_idle(self, now: float) -> None:
        while self._idle and self._idle[0][0] <= now:
            _, key = self._idle.popleft()
            known = self._keys.get(key)
            is_idle = known is not None and known.due is None and not known.is_worked_on
            if is_idle and self._keys[key].last_begin + self._least_seconds <= now:
                del self._keys[key]

    def triggers(self, key: K) -> tuple[str, ...]:
        """Why the key was asked for that was taken last."""
        return self._keys[key].taken if key in self._keys else ()

    def failures(self, key: K) -> int:
        """How often in a row a key has failed."""
        return self._keys[key].failures if key in self._keys else 0
