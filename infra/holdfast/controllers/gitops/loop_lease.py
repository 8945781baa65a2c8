"""The lease of a loop: which one of several, on whatever machines, acts on a stack. Wiring."""

import os
import signal
import socket
from collections.abc import Callable

from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.cli.options.lease import LeasePlace, leadership_of
from holdfast.controllers.gitops.roles import Log
from holdfast.errors import ClusterError
from holdfast.operations.stack.context import StackContext


class LoopLease:
    """Waits for the lease of a stack's loop and gives it back; without a place it is held."""

    def __init__(
        self,
        context: StackContext,
        place: LeasePlace | None,
        log: Log,
        tell: Callable[[bool], None],
    ) -> None:
        """Find the stack's cluster, in which the lease lies.

        Args:
            context: The stack.
            place: Where the lease lies; None for none.
            log: Told when the loop waits, leads, or has lost the lease.
            tell: Told whether this loop leads, whenever that changes.
        """
        self._log, self._tell = log, tell
        self._told = ""
        self._name = "/".join(place) if place else ""
        self.is_waiting = False
        self.was_lost = False
        self._leadership = None
        if place is not None:
            kubeconfig, kube_context = context.kubeconfig, context.kube_context

            def connect() -> Connection:
                return connection_of(kubeconfig, kube_context)

            self._leadership = leadership_of(place, socket.gethostname(), connect, self._lose)

    def take(self) -> bool:
        """Wait until the lease is held; False when told to stop before."""
        if self._leadership is not None:
            self.is_waiting = True
            is_held = self._leadership.wait(self._wait)
            self.is_waiting = False
            if not is_held:
                return False
            self._log("lead", lease=self._name)
        self._tell(True)
        return True

    def stop_waiting(self) -> None:
        """Wait no longer; from a signal handler, too."""
        if self._leadership is not None and self.is_waiting:
            self._leadership.stop()

    def give_back(self) -> None:
        """Let another one begin at once; nothing may be written after it."""
        self._tell(False)
        if self._leadership is None:
            return
        try:
            self._leadership.release()
        except ClusterError as error:
            self._log("error", error=str(error))

    def _wait(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._log("standby", lease=self._name, reason=reason)

    def _lose(self, reason: str) -> None:
        self.was_lost = True
        self._tell(False)
        self._log("lost", lease=self._name, reason=reason)
        # As somebody who ends it would: an update under way is told to stop, too.
        os.kill(os.getpid(), signal.SIGTERM)
