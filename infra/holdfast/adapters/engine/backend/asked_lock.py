"""Who holds the lock of a stack whose backend is no folder of this machine: asked of the engine.

No command of it tells. One that cannot succeed does: giving a stack the name that it has. It takes
the lock, finds the name in use, and gives the lock back; of the stack it writes nothing.
"""

import re

from holdfast.adapters.engine.backend.lock_holder import LockHolder
from holdfast.adapters.engine.failures.failures import command_failure
from holdfast.adapters.engine.stack import Stack
from holdfast.errors import ExitCode

_TIMEOUT_SECONDS = 120.0
# Backends of others, such as Pulumi Cloud, keep no locks that their users see.
_WITH_LOCKS = re.compile(r"(?!https?://|file://)[a-z][a-z0-9+.-]*://")
_LOCKED = "the stack is currently locked by"
_HOLDER = re.compile(
    r"^\s*(?P<file>\S+): created by (?P<username>.*)@(?P<hostname>\S+) \(pid (?P<pid>\d+)\)"
    r" at (?P<timestamp>\S+)",
    re.MULTILINE,
)


def ask_holders(stack: Stack) -> tuple[LockHolder, ...]:
    """Who holds the lock of a stack; nobody, where the backend has no locks to look at.

    Raises:
        EngineError: the backend cannot be read or written.
    """
    if not _WITH_LOCKS.match(stack.runner.environment.backend_url):
        return ()
    arguments = ["stack", "rename", stack.name, "--stack", stack.name]
    done = stack.runner.run(arguments, lambda _: None, _TIMEOUT_SECONDS)
    if _LOCKED in done.errors:
        return holders_told(done.errors)
    if "already exists" in done.errors:
        return ()
    error = command_failure("stack rename", stack.name, done)
    if error is not None and error.exit_code is not ExitCode.NO_STACK:
        raise error
    return ()


def holders_told(text: str) -> tuple[LockHolder, ...]:
    """The holders that the engine names when it refuses a locked stack.

    Returns:
        At least one; of whom nothing is known when the text cannot be read.
    """
    holders = tuple(
        LockHolder(
            file=match["file"],
            pid=int(match["pid"]),
            username=match["username"],
            hostname=match["hostname"],
            timestamp=match["timestamp"],
        )
        for match in _HOLDER.finditer(text)
    )
    return holders or (LockHolder(file="the lock"),)
