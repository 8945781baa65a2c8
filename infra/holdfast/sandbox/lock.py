"""One command at a time changes a sandbox."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from holdfast.adapters.files.atomic_write import PRIVATE_FILE_MODE
from holdfast.sandbox.paths import SandboxPaths


@contextmanager
def exclusive(place: SandboxPaths, report: Callable[[str], None]) -> Iterator[None]:
    """Hold a sandbox's lock; waits, and says so, while another command holds it.

    The kernel releases the lock when its holder ends in whatever way. The file stays: removing it
    would let two commands hold two locks of one name.
    """
    handle = os.open(place.lock, os.O_RDWR | os.O_CREAT, PRIVATE_FILE_MODE)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another command is changing sandbox {place.name}, waiting for it ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_held(place: SandboxPaths) -> bool:
    """Whether some command is changing the sandbox right now."""
    try:
        handle = os.open(place.lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
