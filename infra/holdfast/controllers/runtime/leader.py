"""The lease of a controller: it waits for it, writes while it holds it, ends when it is lost."""

import os
import secrets
import threading
from collections.abc import Callable
from typing import Final
from weakref import WeakSet

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.adapters.cluster.leadership import MARGIN_SECONDS, LeaderElector
from holdfast.adapters.cluster.lease import LEASE_SECONDS, Lease
from holdfast.controllers.runtime.log import Log
from holdfast.controllers.runtime.process import end_within
from holdfast.errors import ClusterError, HoldfastError

LeasePlace = tuple[str, str]
"""Namespace and name."""

END_SECONDS: Final = MARGIN_SECONDS - 1.0
"""A controller that lost its lease has this long to end; then its process is ended."""


class WriteFence:
    """Keeps every write of a process back once its lease is lost, whichever client sends it.

    Law: no guarded client sends a write after `close`, also one that is guarded later, nor at a
    time when the lease is not held, also where a process that was stopped has not noticed yet.
    """

    def __init__(self) -> None:
        self._reason = ""
        self._clients: WeakSet[ApiClient] = WeakSet()
        self._guarding = threading.Lock()
        self._end_work: Callable[[], None] = lambda: None
        self._is_held: Callable[[], bool] = lambda: True

    def open_while(self, is_held: Callable[[], bool]) -> None:
        """Let writes through only while this is so; it is asked before each of them."""
        self._is_held = is_held

    @property
    def hindrance(self) -> str:
        """Why nothing may be written now; empty for no reason."""
        return self._reason or ("" if self._is_held() else "the lease is not held")

    def when_closed(self, end_work: Callable[[], None]) -> None:
        """Call this once, after all writes are refused: it must end the work."""
        self._end_work = end_work

    def guard(self, client: ApiClient) -> ApiClient:
        """Fence a client; returns the same."""
        with self._guarding:
            self._clients.add(client)
            client.write_hindrance = lambda: self.hindrance
            if self._reason:
                client.refuse_writes(self._reason)
        return client

    def close(self, reason: str) -> None:
        """Refuse all writes from now on; from any thread."""
        with self._guarding:
            self._reason = reason
            for client in self._clients:
                client.refuse_writes(reason)
        self._end_work()

    def check(self) -> None:
        """Make sure that this process may write, before work that no client here sends.

        Raises:
            HoldfastError: it may not.
        """
        if reason := self.hindrance:
            raise HoldfastError(f"nothing is written: {reason}")


class Leader:
    """Whether this process may write; without a lease it always may."""

    def __init__(
        self,
        place: LeasePlace | None,
        instance: str,
        connect: Callable[[], Connection],
        log: Log,
        on_change: Callable[[bool], None],
        fence: WriteFence,
    ) -> None:
        """Prepare.

        Args:
            place: Where the lease is; None for none.
            instance: Name of the pod or machine.
            connect: Finds the cluster of the lease.
            log: Gets a line when the controller waits, leads, or has lost the lease.
            on_change: Called whenever this process begins or ceases to lead.
            fence: Closed, from another thread, when the lease is lost. The process is ended when
                it still runs shortly before another one may take the lease.
        """
        self._log, self._on_change = log, on_change
        self._fence = fence
        self._facts = {"lease": "/".join(place)} if place else {}
        self._waited = ""
        self._elector: LeaderElector | None = None
        self.is_waiting = False
        if place is not None:
            # A connection of its own: a renewal must not wait behind the work that it guards.
            client = ApiClient(connect(), LEASE_SECONDS / 3, connect)
            # Machines may have the same name, and containers the same process number.
            holder = f"{instance}_{os.getpid()}_{secrets.token_hex(4)}"
            self._elector = LeaderElector(Lease(client, *place, holder), self._lose)

    @property
    def was_lost(self) -> bool:
        """Whether the lease was held and is lost."""
        return self._elector is not None and self._elector.was_lost

    @property
    def problem(self) -> str:
        """Why this process is unhealthy; empty unless the lease was lost."""
        return "the lease was lost" if self.was_lost else ""

    def take(self) -> bool:
        """Wait until the lease is held; False when `stop_waiting` was called before."""
        if self._elector is not None:
            self.is_waiting = True
            is_held = self._elector.wait(self._wait)
            self.is_waiting = False
            if not is_held:
                return False
            elector = self._elector
            self._fence.open_while(lambda: elector.is_held)
        self._on_change(True)
        self._log("lead", **self._facts)
        return True

    def stop_waiting(self) -> None:
        """Wait no longer; from a signal handler, too."""
        if self._elector is not None and self.is_waiting:
            self._elector.stop()

    def give_back(self, *, is_free: bool = True) -> None:
        """Let another process begin at once; nothing may be written after it.

        Args:
            is_free: Else writes may be on their way: another process begins when the lease expires.
        """
        self._on_change(False)
        if self._elector is None:
            return
        if not is_free:
            self._elector.stop()
            return
        try:
            self._elector.release()
        except ClusterError as error:
            self._log("release", level="warning", problem=str(error))

    def _wait(self, reason: str) -> None:
        if reason != self._waited:
            self._waited = reason
            self._log("standby", reason=reason, **self._facts)

    def _lose(self, reason: str) -> None:
        end_within(END_SECONDS)
        self._fence.close("the lease was lost")
        self._log("lost", level="error", reason=reason, **self._facts)
        self._on_change(False)
