"""Threads that must not die unseen: whatever ends one is reported, and it is started again."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.api_error import fault_text
from holdfast.controllers.runtime.log import Log
from holdfast.errors import HoldfastError

RECOVERED_SECONDS: Final = 10.0
"""A thread that was started again after a defect is healthy when it has run for so long."""

LIVED_SECONDS: Final = 60.0
"""What ends after so long is the first failure again."""

Work = Callable[[threading.Event], None]
"""Works until the event is set."""


@dataclass
class _Thread:
    """How one thread is.

    Attributes:
        defect: The unforeseen exception that it ended in last; empty for none.
        started_at: Monotonic time of its last start; None while it rests.
    """

    defect: str = ""
    started_at: float | None = None


class Supervisor:
    """Runs work in threads that end with the process."""

    def __init__(self, log: Log) -> None:
        """Prepare.

        Args:
            log: Gets a line whenever a thread ended, with the reason.
        """
        self._log = log
        self._threads: dict[str, _Thread] = {}
        self.stopping = threading.Event()

    def start(self, name: str, work: Work) -> None:
        """Begin work under a name; when it ends by whatever, it begins again after a back-off."""
        self._threads[name] = _Thread()
        threading.Thread(target=self._run, args=(name, work), name=name, daemon=True).start()

    def stop(self) -> None:
        """Start nothing again; work under way sees the event and is not waited for."""
        self.stopping.set()

    @property
    def problem(self) -> str:
        """Which threads ended in a defect and have not recovered; empty when none did."""
        now = time.monotonic()
        return "; ".join(
            f"{name}: {thread.defect}"
            for name, thread in self._threads.items()
            if thread.defect
            and (thread.started_at is None or now - thread.started_at < RECOVERED_SECONDS)
        )

    def _run(self, name: str, work: Work) -> None:
        thread, failures = self._threads[name], 0
        while not self.stopping.is_set():
            begun = thread.started_at = time.monotonic()
            reason, defect = "it ended", ""
            try:
                work(self.stopping)
            except HoldfastError as error:
                reason = str(error)
            except Exception as error:
                # Nobody else would hear of it.
                reason = defect = fault_text(error)
            if self.stopping.is_set():
                return
            thread.started_at, thread.defect = None, defect
            failures = 1 if time.monotonic() - begun >= LIVED_SECONDS else failures + 1
            seconds = backoff.THREADS.seconds(failures)
            facts = {"thread": name, "error": reason, "again_seconds": round(seconds, 1)}
            self._log("watch", level="error" if defect else "warning", **facts)
            self.stopping.wait(seconds)
