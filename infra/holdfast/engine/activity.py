"""What a stack is up to, told without starting the engine: asked before every look of a watch."""

from pathlib import Path

import msgspec

from holdfast.engine.environment import backend_in_use
from holdfast.engine.file_backend import FILE_SCHEME, FileHistory
from holdfast.engine.project import read_project


class StackActivity(msgspec.Struct, frozen=True):
    """What a stack is up to; both are empty where the backend is not a folder.

    Attributes:
        newest_change: Name of the newest record: another one means that the stack was changed.
        is_under_way: Somebody holds the stack's lock.
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
            self._history = FileHistory.at(url, project.name, stack)
        self._stamp = -1
        self._newest = ""

    def read(self) -> StackActivity:
        """What the stack is up to now: a look at two folders, and at names when one has changed."""
        if self._history is None:
            return StackActivity()
        # The lock first: whoever held it has written its record by the time it is gone. The other
        # way round an update that ends in between would look like none at all.
        is_under_way = self._is_locked(self._history)
        return StackActivity(self._newest_change(self._history), is_under_way)

    def _newest_change(self, history: FileHistory) -> str:
        try:
            stamp = history.records_folder.stat().st_mtime_ns
        except FileNotFoundError:
            return ""
        if stamp != self._stamp:
            self._stamp = stamp
            self._newest = history.newest_record()
        return self._newest

    @staticmethod
    def _is_locked(history: FileHistory) -> bool:
        try:
            return any(entry.suffix == ".json" for entry in history.locks_folder.iterdir())
        except FileNotFoundError:
            return False
