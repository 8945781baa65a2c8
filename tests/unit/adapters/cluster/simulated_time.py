"""Threads and clocks of processes in simulated time: one thread at a time, chosen by a seed.

What is tested runs unchanged; its modules get `threading` and `time` from here. A thread gives way
where it would block, and now and then where it reads the clock, as a real one may be preempted
there. Equal seeds give equal runs.
"""

import random
import threading
from collections.abc import Callable
from typing import Any

SWITCH_SHARE = 0.15
"""Of the places where a thread may be preempted, how many it is."""


class Ended(BaseException):
    """The process of this thread was killed, or the run is over."""


class Process:
    """A simulated process.

    Attributes:
        paused_until: Its threads do not run before that.
        slept_seconds: How long its machine was suspended: clocks that stop meanwhile lag by that.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.paused_until = 0.0
        self.slept_seconds = 0.0

    def kill(self, _code: int = 1) -> None:
        """End it where it is."""
        self.is_dead = True


def closed() -> threading.Lock:
    """A lock that waits for its release."""
    lock = threading.Lock()
    lock.acquire()
    return lock


class _Task:
    def __init__(self, process: Process, work: Callable[[], None]) -> None:
        self.process, self.work = process, work
        self.turn = closed()
        self.is_over = False
        self.is_ready: Callable[[], bool] = lambda: True
        self.until = float("inf")
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        self.turn.acquire()
        try:
            if not self.process.is_dead:
                self.work()
        except Ended:
            pass
        finally:
            self.is_over = True
            WORLD.back.release()


class World:
    """All simulated threads, and the time."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Begin a run."""
        self.now = 0.0
        self.random = random.Random(seed)  # noqa: S311  (of a simulation)
        self.tasks: list[_Task] = []
        self.current: _Task | None = None
        self.back = closed()
        self.events: list[tuple[float, Callable[[], None]]] = []

    @property
    def process(self) -> Process:
        """The one whose thread runs."""
        assert self.current is not None
        return self.current.process

    def spawn(self, process: Process, work: Callable[[], None]) -> _Task:
        """A thread of a process."""
        task = _Task(process, work)
        self.tasks.append(task)
        task.thread.start()
        return task

    def at(self, moment: float, happen: Callable[[], None]) -> None:
        """Something that happens at a time, whoever runs."""
        self.events.append((moment, happen))

    def block(self, is_ready: Callable[[], bool], seconds: float | None = None) -> bool:
        """Give way until something is so, or a time has passed; returns whether it is so."""
        task = self.current
        assert task is not None
        task.is_ready = is_ready
        task.until = float("inf") if seconds is None else self.now + max(0.0, seconds)
        self.back.release()
        task.turn.acquire()
        if task.process.is_dead:
            raise Ended
        return is_ready()

    def preempt(self) -> None:
        """Give way, now and then."""
        if self.current is not None and self.random.random() < SWITCH_SHARE:
            self.block(lambda: True)

    def run(self, until: float) -> None:
        """Go on until a time; everything that still lives then is ended."""
        while self.now <= until:
            due = [each for each in self.events if each[0] <= self.now]
            self.events = [each for each in self.events if each[0] > self.now]
            for _, happen in due:
                happen()
            ready = [task for task in self._alive() if self._may_run(task)]
            if ready:
                self._give_turn(self.random.choice(ready))
                continue
            self.now = max(self.now, min(self._next_moments(), default=until + 1.0))
        for task in self.tasks:
            task.process.is_dead = True
        for task in self._alive():
            self._give_turn(task)

    def _alive(self) -> list[_Task]:
        self.tasks = [task for task in self.tasks if not task.is_over]
        return self.tasks

    def _may_run(self, task: _Task) -> bool:
        if task.process.is_dead:
            return True  # to end
        is_due = task.until <= self.now or task.is_ready()
        return is_due and task.process.paused_until <= self.now

    def _next_moments(self) -> list[float]:
        moments = [moment for moment, _ in self.events]
        for task in self._alive():
            wanted = self.now if task.is_ready() else task.until
            moments.append(max(wanted, task.process.paused_until))
        return [moment for moment in moments if moment > self.now]

    def _give_turn(self, task: _Task) -> None:
        self.current = task
        task.turn.release()
        self.back.acquire()
        self.current = None


WORLD = World()


class SimulatedEvent:
    """As `threading.Event`."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, timeout: float | None = None) -> bool:
        return WORLD.block(lambda: self._is_set, timeout)


class SimulatedLock:
    """As `threading.Lock`."""

    def __init__(self) -> None:
        self._holder: object = None

    def __enter__(self) -> "SimulatedLock":
        if WORLD.current is not None:
            WORLD.preempt()
            if self._holder is not None:
                WORLD.block(lambda: self._holder is None)
        self._holder = self
        return self

    def __exit__(self, *_: object) -> None:
        self._holder = None

    acquire = __enter__
    release = __exit__


class SimulatedCondition(SimulatedLock):
    """As `threading.Condition`."""

    def __init__(self) -> None:
        super().__init__()
        self._notified = 0

    def wait(self, timeout: float | None = None) -> bool:
        seen = self._notified
        self._holder = None
        is_notified = WORLD.block(lambda: self._notified != seen, timeout)
        if self._holder is not None:
            WORLD.block(lambda: self._holder is None)
        self._holder = self
        return is_notified

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> bool:
        until = None if timeout is None else WORLD.now + timeout
        while not predicate():
            left = None if until is None else until - WORLD.now
            if left is not None and left <= 0:
                return False
            self.wait(left)
        return True

    def notify(self, _count: int = 1) -> None:
        self._notified += 1

    notify_all = notify


class SimulatedThread:
    """As `threading.Thread`; of the process that has made it."""

    def __init__(
        self, target: Callable[..., None], args: tuple[Any, ...] = (), **_: object
    ) -> None:
        self._process = WORLD.process
        self._work = lambda: target(*args)
        self._task: _Task | None = None

    def start(self) -> None:
        self._task = WORLD.spawn(self._process, self._work)

    def join(self, timeout: float | None = None) -> None:
        task = self._task
        if task is not None:
            WORLD.block(lambda: task.is_over, timeout)


class SimulatedTimer(SimulatedThread):
    """As `threading.Timer`."""

    daemon = True

    def __init__(self, seconds: float, target: Callable[..., None], args: Any = ()) -> None:
        def work() -> None:
            WORLD.block(lambda: False, seconds)
            target(*args)

        super().__init__(work)


class simulated_threading:  # noqa: N801  (stands for a module)
    """As `threading`, as far as it is used."""

    Event = SimulatedEvent
    Lock = SimulatedLock
    Condition = SimulatedCondition
    Thread = SimulatedThread
    Timer = SimulatedTimer


class simulated_time:  # noqa: N801  (stands for a module)
    """As `time`, as far as it is used."""

    CLOCK_BOOTTIME = 7

    @staticmethod
    def monotonic() -> float:
        """Stands still while the machine of the process is suspended."""
        WORLD.preempt()
        return 1000.0 + WORLD.now - WORLD.process.slept_seconds

    @staticmethod
    def clock_gettime(_clock: int) -> float:
        """Goes on while the machine of the process is suspended."""
        WORLD.preempt()
        return 5000.0 + WORLD.now

    @staticmethod
    def sleep(seconds: float) -> None:
        WORLD.block(lambda: False, seconds)
