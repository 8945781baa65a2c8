"""Leader election: one process of several holds a lease, renews it, and says when it is lost.

Law: a process counts as leader for at most `renew_seconds` after the beginning of its last
successful renewal. A watchdog thread keeps that law whatever becomes of the renewal: a request that
hangs, a server that trickles, an exception. Source: client-go, tools/leaderelection: RenewDeadline.
"""

import threading
from collections.abc import Callable
from typing import Final

from holdfast.adapters.clock import elapsed_seconds
from holdfast.adapters.cluster.lease import LEASE_SECONDS, Lease
from holdfast.errors import HoldfastError

RETRY_SECONDS: Final = 2.0
RENEW_SECONDS: Final = LEASE_SECONDS * 2 / 3
"""A leader that could not renew for so long is none any more."""

MARGIN_SECONDS: Final = LEASE_SECONDS - RENEW_SECONDS
"""Between the loss of a lease and the moment at which another process may take it."""


class LeaderElector:
    """Waits for a lease, then holds it until it is released or lost."""

    def __init__(
        self,
        lease: Lease,
        on_lost: Callable[[str], None],
        *,
        renew_seconds: float = RENEW_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            lease: What to hold.
            on_lost: Called once, from another thread, with the reason why it is held no longer.
            renew_seconds: Deadline of a renewal, all its tries included.
            retry_seconds: Between two tries.
        """
        self._lease = lease
        self._on_lost = on_lost
        self._renew_seconds, self._retry_seconds = renew_seconds, retry_seconds
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._deadline = float("-inf")
        self._problem = "no answer in time"
        self._is_taken = False
        self._renewal = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._watchdog = threading.Thread(target=self._watch, name="lease deadline", daemon=True)
        self.was_lost = False

    @property
    def is_held(self) -> bool:
        """Whether this process may write now."""
        return not self.was_lost and elapsed_seconds() < self._deadline

    def wait(self, waited: Callable[[str], None] = lambda _: None) -> bool:
        """Wait until the lease is held; False when `stop` was called before.

        Args:
            waited: Called after each try that failed, with the reason.
        """
        while not self._stopping.is_set():
            begun = elapsed_seconds()
            problem = self._try(begun + self._renew_seconds)
            if not problem:
                self._deadline = begun + self._renew_seconds
                self._renewal.start()
                self._watchdog.start()
                return True
            waited(problem)
            self._stopping.wait(self._retry_seconds)
        return False

    def stop(self) -> None:
        """Stop waiting or renewing; from any thread, and from a signal handler."""
        self._stopping.set()

    def release(self) -> None:
        """Give the lease back; to be called when nothing is written any more.

        Raises:
            ClusterError: the server refused or did not answer: it expires by itself.
        """
        with self._changed:
            was_held = self.is_held
            self.stop()
            self._deadline = float("-inf")
            self._changed.notify_all()
        if was_held:
            self._renewal.join(self._retry_seconds)
            self._lease.release()

    def _try(self, deadline: float) -> str:
        """Take or renew the lease; returns why it is not held, empty when it is."""
        self._is_taken = False
        try:
            if self._lease.try_to_hold(deadline):
                return ""
        except HoldfastError as error:
            return str(error)
        except Exception as error:
            # Whatever it is, the lease was not renewed.
            return f"{type(error).__name__}: {error}"
        self._is_taken = True
        return "another process holds the lease"

    def _renew(self) -> None:
        while not self._stopping.wait(self._retry_seconds) and not self.was_lost:
            begun = elapsed_seconds()
            problem = self._try(self._deadline)
            with self._changed:
                if self._stopping.is_set():
                    return  # a renewal that ends after the release holds nothing
                if not problem:
                    self._deadline = max(self._deadline, begun + self._renew_seconds)
                elif self._is_taken:
                    self._deadline = float("-inf")
                self._problem = problem or "no answer in time"
                self._changed.notify_all()

    def _watch(self) -> None:
        """Wait for the deadline, however far it is moved; when it passes the lease is lost."""
        with self._changed:
            while not self._stopping.is_set():
                left = self._deadline - elapsed_seconds()
                if left <= 0:
                    break
                self._changed.wait(left)
            if self._stopping.is_set():
                return
            self.was_lost = True
        self._on_lost(self._problem)
