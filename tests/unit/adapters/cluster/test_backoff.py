"""Waits after failures, and how many requests at a time."""

import threading
import time

import pytest
from holdfast.adapters.cluster.backoff import (
    LONGEST_ASKED_WAIT_SECONDS,
    REQUESTS,
    STREAMS,
    SUCCESSES_FOR_ONE_MORE,
    Backoff,
    ConcurrencyLimiter,
    request_wait_seconds,
)
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(1, 10_000))
def test_waits_double_differ_a_little_and_are_bounded(failures: int) -> None:
    exact = min(0.8 * 2.0 ** min(failures - 1, 10), 30.0)
    assert exact * 0.8 <= STREAMS.seconds(failures) <= exact * 1.2


@pytest.mark.parametrize(("failures", "seconds"), [(0, 0.0), (1, 1.0), (2, 3.0), (3, 5.0)])
def test_without_jitter_waits_are_exact(failures: int, seconds: float) -> None:
    assert Backoff(1.0, 5.0, factor=3.0, jitter=0.0).seconds(failures) == seconds


@pytest.mark.parametrize(
    ("asked", "waited"),
    [(3.0, 3.0), (100_000.0, LONGEST_ASKED_WAIT_SECONDS)],
    ids=["as asked", "never for hours"],
)
def test_what_the_server_asks_for_counts(asked: float, waited: float) -> None:
    assert request_wait_seconds(1, asked) == waited


def test_without_a_wish_of_the_server_the_policy_of_requests_counts() -> None:
    assert 0 < request_wait_seconds(1) <= REQUESTS.first_seconds * 1.2


def test_a_server_that_has_too_much_is_asked_half_as_hard_and_never_not_at_all() -> None:
    limiter = ConcurrencyLimiter(8)
    limits = []
    for _ in range(5):
        limiter.slow_down()
        limits.append(limiter.limit)
    assert limits == [4, 2, 1, 1, 1]


def test_many_successes_give_one_back_and_never_more_than_there_was() -> None:
    limiter = ConcurrencyLimiter(2)
    limiter.slow_down()
    for _ in range(SUCCESSES_FOR_ONE_MORE):
        limiter.note_success()
    assert limiter.limit == 2
    for _ in range(3 * SUCCESSES_FOR_ONE_MORE):
        limiter.note_success()
    assert limiter.limit == 2


def test_no_more_than_the_limit_are_under_way() -> None:
    limiter = ConcurrencyLimiter(2)
    seen: list[int] = []
    under_way = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal under_way
        for _ in range(50):
            with limiter.acquire():
                with lock:
                    under_way += 1
                    seen.append(under_way)
                with lock:
                    under_way -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(seen) <= 2


def test_a_turn_is_waited_for_until_the_deadline_and_not_longer() -> None:
    limiter = ConcurrencyLimiter(1)
    with limiter.acquire(), pytest.raises(TimeoutError), limiter.acquire(time.monotonic() + 0.01):
        pass
    with limiter.acquire(time.monotonic()):
        pass
