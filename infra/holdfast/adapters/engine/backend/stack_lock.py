"""The lock and the newest change of a stack whose backend is a folder, without the engine.

Holdfast holds the same lock files as a self-managed backend of Pulumi, so that `pulumi up` and a
revert never write at the same time: each writes its own lock, then checks that it is alone.
"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from holdfast.adapters.engine.backend.file_backend import FILE_SCHEME, FileHistory
from holdfast.adapters.engine.backend.lock_holder import StackLockedError, own_lock
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.run.environment import backend_in_use
from holdfast.errors import EngineError


class StackActivity(msgspec.Struct, frozen=True):
    """What a stack is up to; both are empty where the backend is not a folder.

    Attributes:
        newest_change: Name of the newest record: another one means that the stack was changed.
        is_under_way: The stack's lock is held.
    """

    newest_change: str = ""
    is_under_way: bool = False


class ActivityReader:
    """Reads the activity of one stack, again and again."""

    def __init__(self, project_root: Path, stack: str) -> None:
        """Find the backend.

        Raises:
            InputError: there is no project in that folder.
        """
        project = read_project(project_root)
        url = backend_in_use(project.backend_url)
        self._history = None
        if url.startswith(FILE_SCHEME):
            self._history = FileHistory.at(url, project, stack)
            # As texts: many times a second, putting paths together is most of a look's cost.
            self._locks = str(self._history.locks_folder)
            self._records = str(self._history.records_folder)
        self._stamp = -1
        self._newest = ""

    @property
    def is_blind(self) -> bool:
        """Whether the backend is no folder here, so that nothing is ever seen."""
        return self._history is None

    def read(self) -> StackActivity:
        """What the stack is up to now: a read of two folders, and at names when one has changed."""
        if self._history is None:
            return StackActivity()
        # The lock first: its holder has written its record by the time it is gone. The other
        # way round an update that ends in between would look like none at all.
        is_under_way = self._is_locked()
        return StackActivity(self._newest_change(self._history), is_under_way)

    def _newest_change(self, history: FileHistory) -> str:
        try:
            stamp = os.stat(self._records).st_mtime_ns  # noqa: PTH116  (see above)
        except FileNotFoundError:
            return ""
        if stamp != self._stamp:
            self._stamp = stamp
            self._newest = history.newest_record()
        return self._newest

    def _is_locked(self) -> bool:
        try:
            return any(name.endswith(".json") for name in os.listdir(self._locks))  # noqa: PTH208  (as above)
        except FileNotFoundError:
            return False


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
