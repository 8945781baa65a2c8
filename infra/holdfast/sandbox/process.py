"""A process that we started, distinct from every other, also after its number was reused.

A number alone proves nothing: after a crash or a restart of the machine it may be anybody's.
Number, start time, executable and boot together name one process only, and all four are
compared before any signal. Linux only: the facts come from /proc, signals go through a pidfd.
Source: proc(5), pidfd_open(2).
"""

import functools
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_POLL_SECONDS = 0.02
_DEAD_STATES = frozenset("ZX")
_START_TIME_FIELD = 22
_FIRST_FIELD_AFTER_NAME = 3


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process of one boot of this machine.

    Attributes:
        pid: Process number, unique only among what runs now.
        start_ticks: Start time in clock ticks since boot (field 22 of /proc/PID/stat).
        executable: Absolute path of the program file.
        boot: Random id that the kernel takes at each boot.
    """

    pid: int
    start_ticks: int
    executable: str
    boot: str


def read_identity(pid: int) -> ProcessIdentity | None:
    """The identity of a running process; None when there is none, it is dead or not ours to see."""
    state, start_ticks = _state_and_start(pid)
    try:
        executable = str((_PROC / str(pid) / "exe").readlink()).removesuffix(" (deleted)")
    except OSError:
        return None
    if state in _DEAD_STATES:
        return None
    return ProcessIdentity(pid, start_ticks, executable, _boot())


def _state_and_start(pid: int) -> tuple[str, int]:
    """State of a process's first thread and when it was started; X and 0 when there is none."""
    try:
        # The name, in brackets, may hold blanks and brackets: fields are counted from its end.
        text = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2]
    except OSError:
        text = ""
    fields = text.split()
    if not fields:
        return "X", 0
    return fields[0], int(fields[_START_TIME_FIELD - _FIRST_FIELD_AFTER_NAME])


@functools.cache
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # some containers hide it; then the other three must do
        return ""


def is_running(identity: ProcessIdentity) -> bool:
    """Whether exactly this process is alive (a zombie is not)."""
    return read_identity(identity.pid) == identity


def send_signal(identity: ProcessIdentity, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone, whatever has its number now.

    The pidfd is taken before the comparison, so the number cannot be given to another process
    between the two.
    """
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_running(identity):
            return False
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def wait_until_gone(identity: ProcessIdentity, timeout_seconds: float) -> bool:
    """Wait for a process to end and to let go of its ports; False when it does not in that time."""
    deadline = time.monotonic() + timeout_seconds
    while is_running(identity) or _is_ending(identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _is_ending(identity: ProcessIdentity) -> bool:
    """Whether a process can be seen no more as what it was, and has threads that hold its files.

    A program of many threads loses its executable and its first thread before it has ended.
    """
    if identity.boot != _boot() or read_identity(identity.pid) is not None:
        return False
    state, start_ticks = _state_and_start(identity.pid)
    if start_ticks != identity.start_ticks:
        return False
    try:
        threads = len(list((_PROC / str(identity.pid) / "task").iterdir()))
    except OSError:
        return False
    return threads > 1 or state not in _DEAD_STATES


def resident_bytes(identity: ProcessIdentity) -> int:
    """Resident memory of a process; 0 when it is gone."""
    found = _resident_bytes(identity.pid)
    return found if is_running(identity) else 0


def _resident_bytes(pid: int) -> int:
    try:
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def resident_bytes_of_tree(identity: ProcessIdentity) -> int:
    """Resident memory of a process and of all that descends from it; 0 when it is gone."""
    if not is_running(identity):
        return 0
    children: dict[int, list[int]] = {}
    for pid in _pids():
        children.setdefault(_parent(pid), []).append(pid)
    tree, found = [identity.pid], 0
    while tree:
        pid = tree.pop()
        tree += children.get(pid, [])
        found += _resident_bytes(pid)
    return found


def find_by_environment(variable: str, value: str) -> tuple[ProcessIdentity, ...]:
    """Running processes of this user that were started with a variable set to a value.

    Finds what a start left behind that was killed before it could write down what it had started.
    """
    wanted = f"{variable}={value}".encode()
    return tuple(_identities(pid for pid in _pids() if wanted in _environment(pid)))


def _pids() -> Iterable[int]:
    return (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def _parent(pid: int) -> int:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2]
        return int(text.split()[1])
    except (OSError, IndexError):
        return 0


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _identities(pids: Iterable[int]) -> Iterable[ProcessIdentity]:
    return (identity for pid in pids if (identity := read_identity(pid)) is not None)
