"""Holding a lease for as long as one works: renewed from a thread of its own."""

import threading
import time
from collections.abc import Callable
from typing import Final

from holdfast.adapters.cluster.lease import LEASE_SECONDS, Lease
from holdfast.errors import ClusterError

RETRY_SECONDS: Final = 2.0
GIVE_UP_SECONDS: Final = LEASE_SECONDS * 2 / 3
"""Who could not renew for so long stops before somebody else may begin."""


class Leadership:
    """Waits for a lease, then holds it; says when it is lost."""

    def __init__(self, lease: Lease, lost: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            lease: What to hold.
            lost: Told once, from another thread, why it is held no longer.
        """
        self._lease = lease
        self._lost = lost
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)
        self.is_held = False

    def wait(self, waited: Callable[[str], None] = lambda _: None) -> bool:
        """Wait until the lease is held; False when told to stop before.

        Args:
            waited: Told why it is not held yet, whenever it was tried.
        """
        while not self._stopping.is_set():
            try:
                if self._lease.try_to_hold():
                    self.is_held = True
                    self._thread.start()
                    return True
                waited("another one holds the lease")
            except ClusterError as error:
                waited(str(error))
            self._stopping.wait(RETRY_SECONDS)
        return False

    def stop(self) -> None:
        """Stop waiting or renewing; from any thread, and from a signal handler."""
        self._stopping.set()

    def release(self) -> None:
        """Give the lease back; to be called when nothing is written any more.

        Raises:
            ClusterError: the server refused or did not answer: it expires by itself.
        """
        self.stop()
        if self.is_held:
            self._thread.join(RETRY_SECONDS)
            self.is_held = False
            self._lease.release()

    def _renew(self) -> None:
        renewed, problem = time.monotonic(), "another one holds the lease"
        while not self._stopping.wait(RETRY_SECONDS):
            try:
                if not self._lease.try_to_hold():
                    break
                renewed = time.monotonic()
            except ClusterError as error:
                problem = str(error)
                if time.monotonic() - renewed > GIVE_UP_SECONDS:
                    break
        if not self._stopping.is_set():
            self.is_held = False
            self._lost(problem)
