"""The engine's lock of a stack, held by us while we write to its cluster.

The same files that a self-managed backend of Pulumi uses, so that `pulumi up` and a revert never
write at the same time: each writes its own lock, then looks whether it is alone.
"""

import getpass
import json
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.backend.lock_holder import LockHolder
from holdfast.adapters.engine.state.interrupted import Interrupted
from holdfast.errors import EngineError


@contextmanager
def stack_lock(files: FileHistory | None) -> Iterator[None]:
    """Hold the lock of a stack; nothing happens where its backend is no folder of this machine.

    Raises:
        EngineError: somebody else holds it, or it cannot be written.
    """
    if files is None:
        yield
        return
    refuse_locked(files.stack, files.holders())
    path = files.locks_folder / f"{uuid.uuid4()}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_own_lock()))
    except OSError as error:
        message = f"the lock of stack {files.stack} cannot be written ({error.strerror})"
        raise EngineError(message, remedy=f"correct the rights of {path.parent}") from error
    try:
        refuse_locked(files.stack, files.holders(but=path.name))
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def refuse_locked(stack: str, holders: tuple[LockHolder, ...]) -> None:
    """Refuse to write beside whoever holds the lock.

    Raises:
        EngineError: somebody does.
    """
    if error := Interrupted(holders).refusal(stack):
        raise error


def _own_lock() -> dict[str, object]:
    return {
        "pid": os.getpid(),
        "username": getpass.getuser(),
        "hostname": socket.gethostname(),
        "timestamp": datetime.now(UTC).isoformat(),
    }
