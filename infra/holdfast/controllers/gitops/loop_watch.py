"""The watch beside a loop: it asks for an agent as soon as something of it has drifted."""

import threading
from collections.abc import Callable

from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.controllers.watch.drift_watch import WatchSources
from holdfast.controllers.watch.loop import WatchLoop
from holdfast.drift.record.ledger import Transition
from holdfast.drift.record.watch_report import Listener, Look
from holdfast.operations.progress import Progress
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.stack.context import StackContext

_SILENCE_SECONDS = 150.0
_INTERVAL_SECONDS = 600.0


Ask = Callable[[str, str], None]
"""Takes an agent, and why somebody should look at it."""


class AgentCaller(Listener):
    """Asks for each agent that a finding opens on."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def looked(self, look: Look) -> None:
        """One object was looked at."""
        for event in look.events:
            if event.transition is not Transition.CLOSED and event.finding.agent:
                self._ask(event.finding.agent, f"{event.finding.ref} {event.transition.value}")


def watch_for_drift(
    stack: StackContext, ask: Ask, progress: Progress, supervisor: Supervisor
) -> None:
    """Watch the cluster; the resync goes on beside it."""

    def watch(_: threading.Event) -> None:
        sources = WatchSources(ScanRequest(stack.root, stack.name), _SILENCE_SECONDS, progress)
        WatchLoop(sources, [AgentCaller(ask)], _INTERVAL_SECONDS).run()

    supervisor.start("drift", watch)
