"""Processes as they are seen from here: their PID namespace, and the engines that we have started.

A process number means something in one PID namespace only. The engine writes no namespace into its
locks; of the engines that Holdfast starts it is written down here, until they have ended.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from holdfast.adapters.files import state_directory

_PROCESSES = Path("/proc")
_ENDED_STATES = "ZX"
# Programs that hold a lock: another one under the same number got it after the holder had ended.
_HOLDING_PROGRAMS = ("pulumi", "python", "holdfast")
# The kernel gives the machine's own PID namespace this number; the processes of every other
# namespace of the machine are seen from it.
_NAMESPACE_OF_THE_MACHINE = "pid:[4026531836]"

_LOCKS_WITHIN_SECONDS = 300.0
# The engine writes whole seconds where it names a lock.
_CLOCK_SECONDS = 1.0
_NOTES_KEPT_SECONDS = 30 * 86400.0
_FOLDER_MODE = 0o700


class _StartedEngine(msgspec.Struct, frozen=True):
    """An engine that Holdfast has started.

    Attributes:
        namespace: Its PID namespace, as `pid_namespace` has it.
        seconds: When it was started, since 1970.
    """

    pid: int
    namespace: str
    seconds: float


def pid_namespace() -> str:
    """The PID namespace of this process, of this start of the machine; empty where it is hidden."""
    try:
        start = (_PROCESSES / "sys/kernel/random/boot_id").read_text().strip()
        return f"{start}/{(_PROCESSES / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def is_whole_machine_seen() -> bool:
    """Whether every process of this machine is seen from here, those of containers included."""
    try:
        # A mount with `hidepid` hides the processes of other users, the first one among them.
        (_PROCESSES / "1" / "status").read_text()
        return str((_PROCESSES / "self/ns/pid").readlink()) == _NAMESPACE_OF_THE_MACHINE
    except OSError:
        return False


def processes_numbered(pid: int) -> Iterator[Path]:
    """Folders of the processes that have a number, here or in a namespace below."""
    for folder in _PROCESSES.glob("[0-9]*"):
        with suppress(OSError):
            lines = (folder / "status").read_text(errors="replace").splitlines()
            numbers = next((line.split()[1:] for line in lines if line.startswith("NSpid:")), ())
            if str(pid) in (folder.name, *numbers):
                yield folder


def is_running_here(pid: int) -> bool:
    """Whether a process of this PID namespace lives, and may be one that holds a lock."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    folder = _PROCESSES / str(pid)
    return not folder.is_dir() or is_running(folder)  # a mount with `hidepid` hides it


def is_running(folder: Path) -> bool:
    """Whether a process lives, and may be one that holds a lock; what cannot be read may."""
    try:
        # pid (name) state ...: the name may hold anything, even parentheses.
        state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        program = (folder / "exe").readlink().name
    except PermissionError:
        return True
    except OSError:
        return False
    return state not in _ENDED_STATES and any(name in program for name in _HOLDING_PROGRAMS)


def note_engine(pid: int) -> None:
    """Write down that an engine was started in this PID namespace; never fails a run."""
    namespace, now = pid_namespace(), time.time()
    if not namespace:
        return
    note = _note(pid, namespace)
    with suppress(OSError):
        note.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        for old in note.parent.glob("*.json"):
            if now - old.stat().st_mtime > _NOTES_KEPT_SECONDS:
                old.unlink(missing_ok=True)
        note.write_bytes(msgspec.json.encode(_StartedEngine(pid, namespace, now)))


def forget_engine(pid: int) -> None:
    """Forget an engine that has ended in order, and so left no lock."""
    with suppress(OSError):
        _note(pid, pid_namespace()).unlink(missing_ok=True)


def namespace_of_engine(pid: int, timestamp: str) -> str:
    """The PID namespace of an engine that wrote a lock; empty where that is not known.

    Args:
        pid: Its number, as the lock has it.
        timestamp: Of the lock, RFC 3339: an engine takes it soon after its start.
    """
    try:
        locked_seconds = datetime.fromisoformat(timestamp).astimezone(UTC).timestamp()
    except ValueError:
        return ""
    found = set()
    for note in _notes_folder().glob(f"{pid}-*.json"):
        with suppress(OSError, msgspec.DecodeError):
            engine = msgspec.json.decode(note.read_bytes(), type=_StartedEngine)
            if -_CLOCK_SECONDS <= locked_seconds - engine.seconds <= _LOCKS_WITHIN_SECONDS:
                found.add(engine.namespace)
    return found.pop() if len(found) == 1 else ""


def _note(pid: int, namespace: str) -> Path:
    return _notes_folder() / f"{pid}-{namespace.rpartition(':')[2].strip('[]')}.json"


def _notes_folder() -> Path:
    return state_directory() / "engines"
