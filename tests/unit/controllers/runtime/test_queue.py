"""The queue of a reconciler, on a simulated clock."""

from itertools import pairwise

import pytest
from holdfast.adapters.cluster.backoff import OBJECTS
from holdfast.controllers.runtime.queue import MOST_TRIGGERS, KeyedQueue
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

LEAST_SECONDS = 1.0
KEYS = st.sampled_from(["a", "b", "c"])


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [
        pytest.param(0, 0.0, id="none"),
        pytest.param(1, 2.0, id="first"),
        pytest.param(2, 6.0, id="second"),
        pytest.param(5, 162.0, id="fifth"),
        pytest.param(6, OBJECTS.longest_seconds, id="capped"),
        pytest.param(10_000, OBJECTS.longest_seconds, id="for ever"),
    ],
)
def test_rest_grows_threefold_up_to_five_minutes(failures: int, seconds: float) -> None:
    assert OBJECTS.seconds(failures) == seconds


def test_a_hundred_requests_are_one_piece_of_work() -> None:
    queue: KeyedQueue[str] = KeyedQueue()
    for number in range(100):
        queue.add("a", number / 100)
    assert queue.take(1.0) == "a"
    assert queue.take(1.0) is None
    queue.done("a", 1.1, has_succeeded=True)
    assert queue.take(2.0) is None
    assert queue.seconds_until_due(2.0) is None


def test_a_burst_of_a_second_is_one_piece_of_work_when_it_pauses() -> None:
    queue: KeyedQueue[str] = KeyedQueue(0.5, 0.1, 1.2)
    for number in range(100):
        queue.add("a", number / 100)
        assert queue.take(number / 100) is None
    assert queue.take(0.99 + 0.1) == "a"
    queue.done("a", 1.1, has_succeeded=True)
    assert queue.seconds_until_due(1.1) is None


def test_what_never_pauses_is_worked_on_all_the_same() -> None:
    queue: KeyedQueue[str] = KeyedQueue(0.5, 0.1, 1.2)
    taken = []
    for number in range(100):
        now = number * 0.05
        queue.add("a", now)
        if queue.take(now) is not None:
            taken.append(now)
            queue.done("a", now, has_succeeded=True)
    assert len(taken) == 4
    assert all(later - earlier <= 1.3 for earlier, later in pairwise([0.0, *taken]))


def test_triggers_are_reported_once_each_and_again_after_a_failure() -> None:
    queue: KeyedQueue[str] = KeyedQueue()
    for trigger in ("hook", "poll", "hook", *(f"change {number}" for number in range(100))):
        queue.add("a", 0.0, trigger)
    assert queue.take(0.0) == "a"
    told = queue.triggers("a")
    assert told[:2] == ("hook", "poll")
    assert len(told) == MOST_TRIGGERS
    queue.add("a", 0.0, "later")
    queue.done("a", 0.0, has_succeeded=False)
    assert queue.take(10.0) == "a"
    assert queue.triggers("a") == (*told, "later")
    queue.done("a", 10.0, has_succeeded=True)
    queue.add("a", 20.0)
    assert queue.take(20.0) == "a"
    assert queue.triggers("a") == ()


def test_a_new_commit_does_not_wait_for_the_rest_after_a_failure() -> None:
    queue: KeyedQueue[str] = KeyedQueue()
    queue.add("a", 0.0)
    assert queue.take(0.0) == "a"
    assert queue.done("a", 0.0, has_succeeded=False) == 2.0
    queue.add("a", 0.5)
    assert queue.take(0.5) is None, "an ordinary request waits"
    queue.add("a", 0.5, is_urgent=True)
    assert queue.take(0.5) == "a"


def test_keys_that_came_and_went_are_forgotten_once_their_distance_is_kept() -> None:
    queue: KeyedQueue[int] = KeyedQueue(LEAST_SECONDS)
    for number in range(20_000):
        queue.add(number, number)
        assert queue.take(number) == number
        queue.done(number, number, has_succeeded=True)
    assert queue.known <= 2
    queue.add(1, 20_001.5)
    assert queue.take(20_001.5) == 1, "a forgotten key is worked on like a new one"


def test_a_key_that_fails_is_remembered_until_it_succeeds() -> None:
    queue: KeyedQueue[str] = KeyedQueue()
    queue.add("a", 0.0)
    assert queue.take(0.0) == "a"
    queue.done("a", 0.0, has_succeeded=False)
    assert queue.take(5_000.0) == "a"
    assert queue.failures("a") == 1
    queue.done("a", 5_000.0, has_succeeded=True)
    assert queue.take(5_001.0) is None
    assert queue.known == 0


def test_work_that_wants_to_be_done_again_is_due_then_or_when_it_is_asked_for() -> None:
    queue: KeyedQueue[str] = KeyedQueue()
    queue.add("a", 0.0, "start")
    assert queue.take(0.0) == "a"
    queue.done("a", 1.0, has_succeeded=True, again_seconds=30.0)
    assert queue.seconds_until_due(1.0) == 30.0
    queue.add("a", 5.0, "changed")
    assert queue.take(5.0) == "a"
    assert queue.triggers("a") == ("start", "changed")
    queue.add("a", 6.0)
    queue.done("a", 7.0, has_succeeded=True, again_seconds=30.0)
    assert queue.take(7.0) == "a", "what was asked for meanwhile does not wait"


class QueueMachine(RuleBasedStateMachine):
    """Anything may be asked for, taken and ended at any time: the laws hold."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.queue: KeyedQueue[str] = KeyedQueue(LEAST_SECONDS)
        self.working: set[str] = set()
        self.wanted: set[str] = set()
        self.begun: dict[str, float] = {}
        self.failures: dict[str, int] = {}
        self.rests_until: dict[str, float] = {}

    @rule(seconds=st.floats(0, 400))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(key=KEYS)
    def ask(self, key: str) -> None:
        self.queue.add(key, self.now)
        self.wanted.add(key)

    @rule()
    def take(self) -> None:
        key = self.queue.take(self.now)
        if key is None:
            return
        assert key in self.wanted
        assert key not in self.working
        assert self.now >= self.begun.get(key, float("-inf")) + LEAST_SECONDS
        assert self.now >= self.rests_until.get(key, float("-inf"))
        self.wanted.discard(key)
        self.working.add(key)
        self.begun[key] = self.now

    @rule(key=KEYS, has_succeeded=st.booleans())
    def end(self, key: str, has_succeeded: bool) -> None:
        if key not in self.working:
            return
        self.working.discard(key)
        rest = self.queue.done(key, self.now, has_succeeded=has_succeeded)
        self.failures[key] = 0 if has_succeeded else self.failures.get(key, 0) + 1
        assert rest == OBJECTS.seconds(self.failures[key])
        self.rests_until[key] = self.now + rest
        if not has_succeeded:
            self.wanted.add(key)

    @invariant()
    def nothing_is_lost(self) -> None:
        wait = self.queue.seconds_until_due(self.now)
        idle = self.wanted - self.working
        assert (wait is None) == (not idle)
        if wait is not None:
            assert wait <= OBJECTS.longest_seconds


QueueMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=40)
TestQueue = QueueMachine.TestCase
