"""The engine's lock of a stack, held by us while we write to its cluster.

The same files that a self-managed backend of Pulumi uses, so that `pulumi up` and a revert never
write at the same time: each writes its own lock, then looks whether it is alone.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.backend.lock_holder import StackLockedError, own_lock
from holdfast.errors import EngineError


@contextmanager
def stack_lock(files: FileHistory | None) -> Iterator[None]:
    """Hold the lock of a stack; nothing happens where its backend is no folder of this machine.

    Raises:
        StackLockedError: another run holds it.
        EngineError: it cannot be written.
    """
    if files is None:
        yield
        return
    _refuse_locked(files)
    path = files.locks_folder / f"{uuid.uuid4()}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(own_lock())
    except OSError as error:
        message = f"the lock of stack {files.stack} cannot be written ({error.strerror})"
        raise EngineError(message, remedy=f"correct the rights of {path.parent}") from error
    try:
        _refuse_locked(files, but=path.name)
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def _refuse_locked(files: FileHistory, but: str = "") -> None:
    if holders := files.holders(but):
        raise StackLockedError(files.stack, holders)
