"""Who holds the lock of a stack, and whether that process still runs, as far as it can be seen."""

import socket
from pathlib import Path

import msgspec

_PROCESSES = Path("/proc")
_ENDED_STATES = "ZX"
# Programs that hold a lock: another one under the same number got it after the holder had ended.
_HOLDING_PROGRAMS = ("pulumi", "python", "holdfast")


class LockHolder(msgspec.Struct, frozen=True):
    """One lock of a stack.

    Attributes:
        file: Where it lies.
        pid: Process that wrote it; 0 when the file says nothing.
        timestamp: When, RFC 3339.
    """

    file: str = ""
    pid: int = 0
    username: str = "somebody"
    hostname: str = "somewhere"
    timestamp: str = ""

    @property
    def is_readable(self) -> bool:
        """Whether the file says who holds it."""
        return self.pid > 0

    @property
    def is_here(self) -> bool:
        """Whether it was written on this machine."""
        return self.hostname == socket.gethostname()

    @property
    def has_ended(self) -> bool:
        """Whether the holder is known to have ended; False where it cannot be seen.

        Decided by the process number and the program alone, never by a clock.
        """
        return self.is_readable and self.is_here and not _is_running(self.pid)

    def __str__(self) -> str:
        if not self.is_readable:
            return f"somebody: {self.file} does not say who"
        since = f" since {self.timestamp}" if self.timestamp else ""
        return f"{self.username}@{self.hostname} (process {self.pid}){since}"

    def remedy(self, stack: str) -> str:
        """What to do about it."""
        if not self.is_readable:
            return f"if nobody is changing the stack, remove {self.file}"
        if self.has_ended:
            return f"that process has ended: run '{recovery_command(stack)}'"
        if self.is_here:
            return "wait for that run to end"
        return (
            f"wait for that run to end; if it is dead, which can only be seen on {self.hostname}, "
            f"run 'pulumi cancel -s {stack}'"
        )


def recovery_command(stack: str) -> str:
    """What goes on from where a killed run has left a stack, as remedies name it."""
    return f"holdfast up -s {stack} --recover"


def read_lock(path: Path) -> LockHolder | None:
    """Read one lock file; None when it is gone by now."""
    try:
        holder = msgspec.json.decode(path.read_bytes(), type=LockHolder)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError):
        holder = LockHolder()
    return msgspec.structs.replace(holder, file=str(path))


def _is_running(pid: int) -> bool:
    folder = _PROCESSES / str(pid)
    if not _PROCESSES.is_dir():
        return True  # not a Linux: nobody knows
    try:
        # pid (name) state ...: the name may hold anything, even parentheses.
        state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        program = (folder / "exe").readlink().name
    except PermissionError:
        return True
    except OSError:
        return False
    return state not in _ENDED_STATES and any(name in program for name in _HOLDING_PROGRAMS)
