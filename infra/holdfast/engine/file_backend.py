"""A self-managed `file://` backend, read where it lies.

Its history holds a record and a copy of the checkpoint for every change, and reading them takes
milliseconds where the engine takes seconds. Nothing is ever written here.
"""

import functools
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from holdfast.engine.checkpoint import (
    Deployment,
    PendingOperation,
    decode_checkpoint,
    decode_pending,
    decompressed,
)
from holdfast.engine.history import Change
from holdfast.errors import EngineError, ExitCode

FILE_SCHEME = "file://"
_RECORD_NAME = re.compile(r"-(\d+)\.history\.json(?:\.gz|\.zst)?$")
_COMPRESSIONS = ("", ".gz", ".zst")
_NANOSECONDS = 1_000_000_000


class _Lock(msgspec.Struct):
    pid: int = 0
    username: str = "somebody"
    hostname: str = "somewhere"


@dataclass(frozen=True)
class FileHistory:
    """The history of one stack in a `file://` backend.

    Attributes:
        folder: The backend's `.pulumi` folder.
    """

    folder: Path
    project: str
    stack: str
    _changes: dict[int, Change] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def at(cls, backend_url: str, project: str, stack: str) -> "FileHistory":
        """The history of a stack in the backend that a URL names; its name may be a full one."""
        return cls(backend_folder(backend_url) / ".pulumi", project, stack.rpartition("/")[2])

    @property
    def full_name(self) -> str:
        """Name of the stack in a self-managed backend."""
        return f"organization/{self.project}/{self.stack}"

    @property
    def records_folder(self) -> Path:
        """Where the records and their checkpoints lie."""
        return self.folder / "history" / self.project / self.stack

    @property
    def locks_folder(self) -> Path:
        """Where a file lies for whoever is changing the stack."""
        return self.folder / "locks" / self.full_name

    def newest_record(self) -> str:
        """Name of the newest record as it is now; empty when there is none."""
        fresh = FileHistory(self.folder, self.project, self.stack)
        return fresh._records[-1][1] if fresh._records else ""

    @functools.cached_property
    def saved_seconds(self) -> tuple[float, ...]:
        """When each change ended; the engine writes it into the name of the record."""
        return tuple(nanoseconds / _NANOSECONDS for nanoseconds, _ in self._records)

    @functools.cached_property
    def _records(self) -> tuple[tuple[int, str], ...]:
        try:
            names = os.listdir(self.records_folder)  # noqa: PTH208 - names only: thousands of them
        except FileNotFoundError:
            return ()
        found = ((_RECORD_NAME.search(name), name) for name in names)
        return tuple(sorted((int(match[1]), name) for match, name in found if match))

    def change(self, position: int) -> Change:
        """Read one record."""
        if position not in self._changes:
            self._changes[position] = self._read_change(position)
        return self._changes[position]

    def _read_change(self, position: int) -> Change:
        path = self.records_folder / self._records[position][1]
        try:
            return msgspec.json.decode(decompressed(path.read_bytes(), str(path)), type=Change)
        except (OSError, msgspec.DecodeError) as error:
            message = f"{path} cannot be read ({error})"
            raise EngineError(message, remedy="correct its rights, or move it away") from error

    def checkpoint(self, position: int) -> Deployment | None:
        """Read the checkpoint that a change left, None when it has been deleted."""
        name = self._records[position][1].replace(".history.json", ".checkpoint.json")
        path = self.records_folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        return decode_checkpoint(data, stack=self.full_name, place=str(path))

    def pending(self) -> tuple[PendingOperation, ...]:
        """Read the pending operations of the stack's own checkpoint.

        Raises:
            EngineError: the backend has no such stack, or its checkpoint cannot be read.
        """
        path = self.current_path()
        if path is None:
            message = f"no stack named {self.stack!r} found in {self.folder.parent}"
            remedy = f"run 'pulumi stack init {self.stack}'"
            raise EngineError(message, remedy=remedy, exit_code=ExitCode.NO_STACK)
        return decode_pending(path.read_bytes(), stack=self.full_name, place=str(path))

    def current_path(self) -> Path | None:
        """File of the stack's checkpoint, the newest as for the engine; None when there is none."""
        folder = self.folder / "stacks" / self.project
        paths = (folder / f"{self.stack}.json{suffix}" for suffix in _COMPRESSIONS)
        there = [path for path in paths if path.is_file()]
        return max(there, key=lambda path: path.stat().st_mtime_ns, default=None)

    def running(self, but: str = "") -> tuple[str, ...]:
        """Who holds the stack's lock: a run under way, or one that was killed.

        Args:
            but: Name of a lock file to pass over: our own.
        """
        found = []
        for path in sorted(self.locks_folder.glob("*.json")):
            if path.name == but:
                continue
            try:
                lock = msgspec.json.decode(path.read_bytes(), type=_Lock)
            except FileNotFoundError:
                continue  # released just now
            except (OSError, msgspec.DecodeError):
                lock = _Lock()
            found.append(f"{lock.username}@{lock.hostname} (process {lock.pid})")
        return tuple(found)

    def warnings(self) -> tuple[str, ...]:
        """Say when others could have written the state: whoever writes it decides what is drift."""
        suspects = (self.folder, self.records_folder, self.current_path())
        return tuple(
            f"{path} may be written by everybody; run 'chmod o-w {path}'"
            for path in suspects
            if path is not None and path.exists() and path.stat().st_mode & stat.S_IWOTH
        )


def backend_folder(backend_url: str) -> Path:
    """Folder of a `file://` backend: absolute, relative to here, or below the home with `~`."""
    parts = urlsplit(backend_url)
    return Path(f"{parts.netloc}{parts.path}").expanduser().absolute()
