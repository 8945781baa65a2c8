"""The loop of every controller: messages in order, timers with jitter, an orderly stop."""

import random
import signal
import threading
import time
from itertools import pairwise

import pytest
from holdfast.controllers.runtime.event_loop import EventLoop
from holdfast.controllers.runtime.process import stop_on_signals


def test_messages_are_taken_in_order_and_a_turn_follows_each_batch() -> None:
    taken: list[object] = []

    def turn() -> None:
        taken.append("turn")
        if 9 in taken:
            loop.stop()

    loop: EventLoop[int] = EventLoop(taken.append, turn)
    for number in range(10):
        loop.post(number)
    loop.run()
    assert taken == [*range(10), "turn"]


def test_a_batch_has_a_bound_so_that_the_loop_gets_to_act() -> None:
    loop: EventLoop[int] = EventLoop(lambda _: None)
    for number in range(3):
        loop.post(number)
    assert [list(loop._messages(0.001, 2)), list(loop._messages(0.001, 2))] == [[0, 1], [2]]


def test_a_loop_that_is_stopped_before_it_runs_does_nothing() -> None:
    done: list[str] = []
    loop: EventLoop[int] = EventLoop(lambda _: done.append("take"), lambda: done.append("turn"))
    loop.every(lambda: 1.0, lambda: done.append("timer"), at_once=True)
    loop.post(1)
    loop.stop()
    loop.run()
    assert done == []
    assert not loop.rest(60.0), "it does not wait either"


def test_a_wait_ends_when_a_message_comes_from_another_thread() -> None:
    loop: EventLoop[str] = EventLoop(lambda _: loop.stop(), poll_seconds=600.0)
    thread = threading.Thread(target=loop.run)
    thread.start()
    loop.post("news")
    thread.join(30)
    assert not thread.is_alive()


class Clock:
    """A clock that the loop's waits move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


def fired(monkeypatch: pytest.MonkeyPatch, seed: int, *, jitter: float) -> list[float]:
    """Times at which a timer of 600 seconds fires three times, on a clock that ticks seconds."""
    random.seed(seed)
    clock, times = Clock(monkeypatch), list[float]()

    def turn() -> None:
        clock.now += 1.0
        if len(times) == 3:
            loop.stop()

    loop: EventLoop[int] = EventLoop(lambda _: None, turn, poll_seconds=0.001)
    loop.every(lambda: 600.0, lambda: times.append(clock.now), jitter=jitter)
    loop.run()
    return times


def test_periods_differ_by_the_jitter_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [1000.0, *fired(monkeypatch, 1, jitter=0.1)]
    periods = [later - earlier for earlier, later in pairwise(times)]
    assert all(539 <= period <= 661 for period in periods), periods
    assert len(set(periods)) == 3, "no two periods are alike"
    others = fired(monkeypatch, 2, jitter=0.1)
    assert times[1:] != others, "controllers that began together do not act together"


def test_without_jitter_a_period_is_as_long_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fired(monkeypatch, 1, jitter=0.0) == [1600.0, 2200.0, 2800.0]


def test_the_first_signal_stops_in_order_and_the_second_ends_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers: dict[int, object] = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    loop: EventLoop[int] = EventLoop(lambda _: None)
    stop_on_signals(loop.stop)
    handler = handlers[signal.SIGTERM]
    assert callable(handler)
    handler(signal.SIGTERM, None)
    assert loop.is_stopping
    assert handlers[signal.SIGTERM] is signal.SIG_DFL
