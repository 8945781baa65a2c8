"""The watch beside a loop: it asks for an agent as soon as something of it has drifted. Wiring."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.controllers.gitops.roles import Log
from holdfast.controllers.watch.drift_watch import WatchSources
from holdfast.controllers.watch.watch_loop import WatchLoop
from holdfast.drift.record.ledger import Turn
from holdfast.drift.record.watch_report import Listener, Look
from holdfast.errors import HoldfastError
from holdfast.operations.scan.request import ScanRequest

AGAIN_SECONDS = 15.0
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
            if event.turn is not Turn.CLOSED and event.finding.agent:
                self._ask(event.finding.agent, f"{event.finding.ref} {event.turn.value}")


def watch_for_drift(root: Path, stack: str, ask: Ask, log: Log) -> None:
    """Watch from a thread that ends with the process.

    What ends the watch is told, and it begins again; the resync goes on beside it.
    """

    def watch() -> None:
        while True:
            try:
                sources = WatchSources(ScanRequest(root, stack), _SILENCE_SECONDS)
                WatchLoop(sources, [AgentCaller(ask)], _INTERVAL_SECONDS).run()
            except HoldfastError as error:
                log("watch", error=str(error), again_seconds=AGAIN_SECONDS)
            time.sleep(AGAIN_SECONDS)

    threading.Thread(target=watch, name="watch", daemon=True).start()
