"""Interruptions of a start: each becomes a KeyboardInterrupt, so that one way of undoing serves."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Raise KeyboardInterrupt also when a CI job is cancelled or a terminal is closed."""
    with _handled_by(signal.default_int_handler):
        yield


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Finish what must not be left half done."""
    with _handled_by(lambda number, frame: None):
        yield


@contextmanager
def _handled_by(handler: "signal._HANDLER") -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals, and only it receives them
        return
    # What `nohup` or a background shell has made ignored stays ignored.
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous or signal.SIG_DFL)
