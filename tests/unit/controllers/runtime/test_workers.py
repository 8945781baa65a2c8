"""Workers: the failure of one key concerns that key, and a stop drains until a deadline."""

import queue
import threading

import pytest
from holdfast.controllers.runtime.queue import KeyedQueue
from holdfast.controllers.runtime.workers import WorkerPool, WorkOutcome, WorkResult

WAIT_SECONDS = 10.0


class Bench:
    """A pool whose work the test lets go on."""

    def __init__(self, workers: int = 2) -> None:
        self.results: queue.SimpleQueue[WorkResult[str]] = queue.SimpleQueue()
        self.begun: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.may_end = threading.Event()
        self.pool: WorkerPool[str] = WorkerPool(self.work, KeyedQueue(), self.results.put, workers)

    def work(self, key: str, triggers: tuple[str, ...]) -> WorkOutcome:
        self.begun.put(key)
        if key == "bad":
            raise KeyError(triggers)
        assert self.may_end.wait(WAIT_SECONDS)
        return WorkOutcome()


def test_a_key_that_ends_in_a_defect_backs_off_and_the_others_go_on() -> None:
    bench = Bench()
    bench.may_end.set()
    bench.pool.ask(["bad", "good"], "test")
    bench.pool.begin_due()
    results = {each.key: each for each in (bench.results.get(timeout=10) for _ in range(2))}
    rests = {key: bench.pool.end(each) for key, each in results.items()}
    assert isinstance(results["bad"].fault, KeyError)
    assert (results["good"].fault, rests) == (None, {"bad": 2.0, "good": 0.0})
    assert (bench.pool.failures("bad"), len(bench.pool)) == (1, 1)
    assert bench.pool.drain()


def test_no_key_is_worked_on_twice_at_once_and_no_more_than_there_are_workers() -> None:
    bench = Bench(workers=2)
    bench.pool.ask(["a", "b", "c"])
    bench.pool.begin_due()
    assert {bench.begun.get(timeout=10) for _ in range(2)} == {"a", "b"}
    bench.pool.ask(["a"])
    bench.pool.begin_due()
    assert bench.begun.empty()
    assert bench.pool.seconds_until_due() is None, "there is no room"
    bench.may_end.set()
    for _ in range(2):
        bench.pool.end(bench.results.get(timeout=10))
    bench.pool.begin_due()
    assert {bench.begun.get(timeout=10) for _ in range(2)} == {"a", "c"}
    assert bench.pool.drain()


def test_a_stop_waits_for_the_work_under_way() -> None:
    bench = Bench()
    bench.pool.ask(["a"])
    bench.pool.begin_due()
    assert bench.begun.get(timeout=10) == "a"
    threading.Timer(0.05, bench.may_end.set).start()
    assert bench.pool.drain(WAIT_SECONDS)
    assert bench.results.get(timeout=10).outcome == WorkOutcome()


def test_work_that_does_not_end_is_abandoned_at_the_deadline() -> None:
    bench = Bench()
    bench.pool.ask(["a"])
    bench.pool.begin_due()
    assert bench.begun.get(timeout=10) == "a"
    assert not bench.pool.drain(0.01)
    bench.may_end.set()


@pytest.mark.parametrize("again_seconds", [None, 30.0])
def test_without_threads_the_caller_works_on_one_key_at_a_call(
    again_seconds: float | None,
) -> None:
    worked: list[tuple[str, threading.Thread]] = []

    def work(key: str, _: tuple[str, ...]) -> WorkOutcome:
        worked.append((key, threading.current_thread()))
        return WorkOutcome(again_seconds=again_seconds)

    def ended(result: WorkResult[str]) -> None:
        pool.end(result)

    pool: WorkerPool[str] = WorkerPool(work, KeyedQueue(), ended)

    pool.ask(["a", "b"])
    pool.begin_due()
    assert worked == [("a", threading.current_thread())]
    pool.begin_due()
    assert [key for key, _ in worked] == ["a", "b"]
    due = pool.seconds_until_due()
    assert due is None if again_seconds is None else due is not None and 29 < due <= 30
    assert pool.drain()
