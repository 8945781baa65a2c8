"""Writes that somebody else was faster than: done anew, after a moment, on what is there now."""

import time
from collections.abc import Callable
from itertools import count
from typing import Final, TypeVar

from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.api_error import ApiError

_TRIES_BEFORE_NOTE: Final = 5
T = TypeVar("T")


def retry_on_conflict(
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
    end = time.monotonic() + patience_seconds
    for tries in count(1):
        try:
            return work()
        except ApiError as error:
            if not error.is_conflict or (time.monotonic() >= end and tries > 1):
                raise
        if tries == _TRIES_BEFORE_NOTE:
            note_waiting()
        # With jitter: two writers that collided must not collide again at the same moment.
        time.sleep(backoff.CONFLICTS.seconds(tries))
    raise AssertionError  # the loop returns or raises
