"""What other threads tell a loop, taken in portions."""

import queue
from collections.abc import Iterator
from typing import TypeVar

Heard = TypeVar("Heard")


def heard(inbox: "queue.SimpleQueue[Heard]", wait_seconds: float, most: int) -> Iterator[Heard]:
    """What is there, waiting for the first of it; ends when nothing is there any more.

    Law: everything told is heard once; what a portion has no room for stays for the next one.

    Args:
        inbox: Where others tell.
        wait_seconds: For how long the first one is waited for.
        most: How many at once, so that whoever hears gets to do something.
    """
    try:
        yield inbox.get(timeout=wait_seconds)
        for _ in range(most - 1):
            yield inbox.get_nowait()
    except queue.Empty:
        return
