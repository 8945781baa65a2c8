import threading
import time

import pytest
from holdfast.adapters.cluster.backoff import SUCCESSES_FOR_ONE_MORE, ConcurrencyLimiter


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
