"""Writes that somebody else was faster than: done anew, after a moment, on what is there now."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from holdfast.adapters.cluster.api_error import ApiError

_FIRST_PAUSE_SECONDS: Final = 0.05
_LONGEST_PAUSE_SECONDS: Final = 1.0
T = TypeVar("T")


def done_anew_when_overtaken(
    work: Callable[[], T],
    patience_seconds: float,
    note_waiting: Callable[[], None] = lambda: None,
) -> T:
    """Read, judge and write; whoever wrote in between makes all of it be done again.

    Controllers write status all the time, in bursts while pods roll, and every write ends the
    version that a guard names. The pauses grow, so that a burst is outlived and not joined.

    Args:
        work: Reads what is there at each call.
        patience_seconds: For how long; it is tried twice at least.
        note_waiting: Called once, when it takes so long that a person would ask why.

    Raises:
        ApiError: others still write after that time; and whatever else `work` raises, at once.
    """
    end, pause_seconds, is_first = time.monotonic() + patience_seconds, _FIRST_PAUSE_SECONDS, True
    has_noted = False
    while True:
        try:
            return work()
        except ApiError as error:
            if not error.is_conflict or (time.monotonic() >= end and not is_first):
                raise
        if pause_seconds == _LONGEST_PAUSE_SECONDS and not has_noted:
            has_noted = True
            note_waiting()
        # Two that got in each other's way must not do so again at the same moment.
        time.sleep(pause_seconds * random.uniform(0.5, 1.0))  # noqa: S311  (no secret hangs on it)
        pause_seconds, is_first = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS), False
