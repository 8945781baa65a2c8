"""The processes of one session, and their end.

Python component plugins, and everything after a kill, outlive the engine that started them. All of
them keep its session id, whatever process group they are in; nothing else ever has it.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_PROCESSES = Path("/proc")
_POLL_SECONDS = 0.02
TERMINATE_SECONDS = 3.0
"""How long a process may take to end after SIGTERM before it is killed."""


def session_members(session: int) -> tuple[int, ...]:
    """Process ids of the living members of a session, its leader included; zombies have ended."""
    return tuple(pid for pid in _process_ids() if _is_member(pid, session))


def end_session(session: int) -> tuple[int, ...]:
    """End what is left of a session whose leader has ended: SIGTERM, a wait, SIGKILL.

    The leader must not have been reaped yet, so that its id cannot be somebody else's by now.

    Returns:
        Process ids that had to be ended; empty when the engine left nothing behind.
    """
    ended: set[int] = set()

    def send(number: signal.Signals) -> Callable[[], bool]:
        for pid in _others(session):
            ended.add(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return lambda: not _others(session)

    if not _wait_until(send(signal.SIGTERM), TERMINATE_SECONDS):
        _wait_until(send(signal.SIGKILL), TERMINATE_SECONDS)
    return tuple(sorted(ended))


def _others(session: int) -> tuple[int, ...]:
    return tuple(pid for pid in session_members(session) if pid != session)


def _wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _process_ids() -> list[int]:
    if _PROCESSES.is_dir():
        return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit()]  # noqa: PTH208
    listed = subprocess.run(["ps", "-axo", "pid="], capture_output=True, text=True, check=True)
    return [int(line) for line in listed.stdout.split()]


def _is_member(pid: int, session: int) -> bool:
    try:
        if os.getsid(pid) != session:
            return False
        if not _PROCESSES.is_dir():
            return True
        # pid (name) state ...: the name may hold anything, even parentheses.
        state = (_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError, PermissionError):
        return False
    return state not in {"Z", "X"}
