"""Who holds the lock of a stack, and whether that process still runs, as far as it can be seen.

Law: a lock counts as dead only where its process would be seen if it lived. A process number means
nothing outside of the PID namespace that gave it, and a host name does not name one: containers may
share the name of their host. What cannot be seen lives.
"""

import getpass
import os
import re
import socket
from contextlib import suppress
from enum import Enum
from pathlib import Path

import msgspec

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.backend.processes import (
    is_running,
    is_running_here,
    is_whole_machine_seen,
    namespace_of_engine,
    pid_namespace,
    processes_numbered,
)
from holdfast.errors import EngineError

_NAMES_OF_EVERY_MACHINE = ("localhost", "localhost.localdomain")

_LOCKED = "the stack is currently locked by"
_LOCKED_BY_SERVICE = "Another update is currently in progress"
_HOLDER = re.compile(
    r"^\s*(?P<file>\S+): created by (?P<username>.*)@(?P<hostname>\S+) \(pid (?P<pid>\d+)\)"
    r" at (?P<timestamp>\S+)",
    re.MULTILINE,
)


class Life(Enum):
    """What is known of the process that holds a lock."""

    RUNS = "it runs"
    ENDED = "it has ended"
    UNKNOWN = "it cannot be seen from here"


class LockHolder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One lock of a stack: a file of a self-managed backend, or an update that a service runs.

    Attributes:
        file: Where it lies; empty for a service.
        pid: Process that wrote it; 0 when the file says nothing.
        timestamp: When, RFC 3339.
        namespace: PID namespace of that process, as `pid_namespace` has it; empty where the engine
            wrote the lock: it does not say, but for engines that Holdfast has started it is known.
        update: What a service runs, such as `update 12`; empty for a file.
    """

    file: str = ""
    pid: int = 0
    username: str = "unknown"
    hostname: str = "unknown"
    timestamp: str = ""
    namespace: str = msgspec.field(default="", name="pidNamespace")
    update: str = ""

    @property
    def is_readable(self) -> bool:
        """Whether the file says who holds it."""
        return self.pid > 0

    @property
    def is_here(self) -> bool:
        """Whether it was written on a machine of this machine's name."""
        return self.hostname == socket.gethostname()

    @property
    def life(self) -> Life:
        """What is known of the holder, decided by numbers and programs alone, never by a clock."""
        if not self.is_readable:
            return Life.UNKNOWN
        namespace = self.namespace or namespace_of_engine(self.pid, self.timestamp)
        if namespace and namespace == pid_namespace():
            return Life.RUNS if is_running_here(self.pid) else Life.ENDED
        is_named = self.is_here and self.hostname not in _NAMES_OF_EVERY_MACHINE
        if not is_named or not is_whole_machine_seen():
            return Life.UNKNOWN
        return Life.RUNS if any(map(is_running, processes_numbered(self.pid))) else Life.ENDED

    @property
    def has_ended(self) -> bool:
        """Whether the holder is known to have ended; False where it cannot be seen."""
        return self.life is Life.ENDED

    def __str__(self) -> str:
        since = f" since {self.timestamp}" if self.timestamp else ""
        if self.update:
            return f"{self.update}{since}"
        if not self.is_readable:
            return f"an unknown process: {self.file} does not say who"
        return f"{self.username}@{self.hostname} (process {self.pid}){since}"

    def remedy(self, stack: str) -> str:
        """What to do about it."""
        if self.update:
            return f"wait for it to end; if it is dead, run 'pulumi cancel -s {stack}'"
        if not self.is_readable:
            return f"if no run is changing the stack, remove {self.file}"
        life = self.life
        if life is Life.ENDED:
            return f"that process has ended: run '{recovery_command(stack)}'"
        if life is Life.RUNS:
            return "wait for that run to end"
        seen = (
            "cannot be seen from here" if self.is_here else f"can only be seen on {self.hostname}"
        )
        return (
            f"wait for that run to end; if it is dead, which {seen}, run 'pulumi cancel -s {stack}'"
        )


class StackLockedError(EngineError):
    """A stack is locked: another run is changing it, or was killed while it did.

    Attributes:
        holders: Whose locks they are; at least one.
    """

    def __init__(self, stack: str, holders: tuple[LockHolder, ...]) -> None:
        names = ", ".join(map(str, holders))
        remedy = worst_of(holders).remedy(stack)
        super().__init__(f"stack {stack} is locked by {names}", remedy=remedy)
        self.holders = holders


def worst_of(holders: tuple[LockHolder, ...]) -> LockHolder:
    """The holder that stands in the way: one that may still run, if any does."""
    return next((each for each in holders if not each.has_ended), holders[0])


def locked_error(text: str, stack: str) -> StackLockedError | None:
    """The error that the engine's refusal of a locked stack means; None for any other text."""
    if _LOCKED_BY_SERVICE in text:
        return StackLockedError(stack, (LockHolder(update="another update"),))
    if _LOCKED not in text:
        return None
    named = tuple(
        LockHolder(
            file=match["file"],
            pid=int(match["pid"]),
            username=match["username"],
            hostname=match["hostname"],
            timestamp=match["timestamp"],
        )
        for match in _HOLDER.finditer(text)
    )
    return StackLockedError(stack, named or (LockHolder(file="the lock"),))


def recovery_command(stack: str) -> str:
    """What goes on from where a killed run has left a stack, as remedies name it."""
    return f"holdfast up -s {stack} --recover"


def own_lock() -> bytes:
    """A lock of this process, as the engine writes one, and its PID namespace beside."""
    return msgspec.json.encode(
        LockHolder(
            pid=os.getpid(),
            username=caller_name(),
            hostname=socket.gethostname(),
            timestamp=utc_now(),
            namespace=pid_namespace(),
        )
    )


def caller_name() -> str:
    """Name of the user who runs this; the number of one who has no account, as in containers."""
    with suppress(KeyError, OSError, ImportError):
        return getpass.getuser()
    return f"uid-{os.getuid()}"


def read_lock(path: Path) -> LockHolder | None:
    """Read one lock file; None when it is gone by now."""
    try:
        holder = msgspec.json.decode(path.read_bytes(), type=LockHolder)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError):
        holder = LockHolder()
    return msgspec.structs.replace(holder, file=str(path))
