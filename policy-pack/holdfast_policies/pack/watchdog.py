"""A limit on the time that judging may take: a rule that does not end must not hold the engine.

The engine waits for a pack for ever. A rule is judged in a thread of its own, and when that does
not end in time the engine is told which rule and which resource: nothing was decided, and the run
fails.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from holdfast_policies.own.loading import OWN_RULES

LIMIT_VARIABLE = "HOLDFAST_RULE_SECONDS"
LIMIT_SECONDS = 60.0
_RULES = str(Path(__file__).resolve().parents[1] / "rules")

T = TypeVar("T")


class LateRuleError(Exception):
    """A rule has not ended in time; the text names it and what it judges."""


def in_time(subject: str, judge: Callable[[], T], limit_seconds: float | None = None) -> T:
    """What a judgement comes to, if it does in time.

    Args:
        subject: What is judged, such as a resource's URN.
        judge: Judges it; a rule that raises is a violation in its answer.
        limit_seconds: How long it may take; default what the environment says.

    Raises:
        LateRuleError: it has not ended; its thread is left to itself.
    """
    limit = limit_seconds if limit_seconds is not None else time_limit()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    answer: SimpleQueue[tuple[T, ...]] = SimpleQueue()
    worker.jobs.put((judge, answer))
    try:
        answered = answer.get(timeout=limit)
    except Empty:
        worker.jobs.put(None)
        raise LateRuleError(
            f"{_rule_of(worker)} has not judged {subject} within {limit:g} s, so nothing is decided"
        ) from None
    if not answered:
        worker.join(limit)  # it ends, and says why
        raise LateRuleError(f"{subject} was not judged: the judgement broke off")
    _idle.append(worker)
    return answered[0]


class _Worker(threading.Thread):
    """A thread that judges one thing after the other; to start one for each costs more.

    It ends with a judgement that breaks off, and after one that was late.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.jobs: SimpleQueue[tuple[Callable[[], Any], SimpleQueue[Any]] | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        """Answer with what each judgement comes to, in a tuple; with an empty one for none."""
        while (job := self.jobs.get()) is not None:
            judge, answer = job
            judged: tuple[Any, ...] = ()
            try:
                judged = (judge(),)
            finally:
                answer.put(judged)
            del job, judge, answer, judged  # nothing is kept between two judgements


_idle: list[_Worker] = []
"""Workers without work: as many as judgements ran at once."""


def time_limit() -> float:
    """How long judging one resource may take, in seconds."""
    try:
        seconds = float(os.environ.get(LIMIT_VARIABLE, ""))
    except ValueError:
        return LIMIT_SECONDS
    return seconds if seconds > 0 else LIMIT_SECONDS


def _rule_of(thread: threading.Thread) -> str:
    """The rule that a thread is in, by its file; else the pack."""
    frames = sys._current_frames()  # noqa: SLF001  (the documented way to see another thread)
    frame = frames.get(thread.ident or 0)
    while frame is not None:
        is_own = str(frame.f_globals.get("__name__", "")).startswith(f"{OWN_RULES}.")
        if is_own or frame.f_code.co_filename.startswith(_RULES):
            return f"rule {Path(frame.f_code.co_filename).stem.replace('_', '-')}"
        frame = frame.f_back
    return "the pack"
