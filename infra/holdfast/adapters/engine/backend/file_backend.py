"""A self-managed `file://` backend, read where it lies.

Its history holds a record and a copy of the checkpoint for every change, and reading them takes
milliseconds where the engine takes seconds. Nothing is ever written here.
"""

import functools
import os
import pwd
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from holdfast.adapters.engine.backend.lock_holder import LockHolder, read_lock
from holdfast.adapters.engine.project import Project
from holdfast.adapters.engine.state.checkpoint import (
    Deployment,
    PendingOperation,
    decode_checkpoint,
    decompressed,
)
from holdfast.adapters.engine.state.history import Change
from holdfast.errors import EngineError, ExitCode

FILE_SCHEME = "file://"
SERVICE_SCHEMES = ("https://", "http://")
"""Of Pulumi Cloud, and of services that speak as it does."""

UPGRADE_OF_LAYOUT = (
    "keep a copy of the backend's folder or bucket, then run "
    "'PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1 pulumi state upgrade'"
)
"""What brings a backend of Pulumi before 3.61 into the layout of today; of itself it refuses to."""

_RECORD_NAME = re.compile(r"-(\d+)\.history\.json(?:\.gz|\.zst)?$")
_COMPRESSIONS = ("", ".gz", ".zst")
_NANOSECONDS = 1_000_000_000


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
    _decoded: list[tuple[bytes, Deployment]] = field(
        default_factory=list, repr=False, compare=False
    )

    @classmethod
    def at(cls, backend_url: str, project: Project, stack: str) -> "FileHistory":
        """The history of a stack in the backend that a URL names; its name may be a full one."""
        folder = backend_folder(backend_url, project.root) / ".pulumi"
        return cls(folder, project.name, stack.rpartition("/")[2])

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
        """Where a file lies, for the process that changes the stack."""
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
        return self._deployment(data, path)

    def _deployment(self, data: bytes, path: Path) -> Deployment:
        """Decode a checkpoint, unless the one before was the same: an update leaves a copy."""
        for known, deployment in self._decoded:
            if known == data:
                return deployment
        deployment = decode_checkpoint(data, stack=self.full_name, place=str(path))
        self._decoded[:] = [(data, deployment)]
        return deployment

    def pending(self) -> tuple[PendingOperation, ...]:
        """Read the pending operations of the stack's own checkpoint.

        Raises:
            EngineError: as `current`.
        """
        return self.current().pending_operations

    def current(self) -> Deployment:
        """Read the stack's own checkpoint.

        Raises:
            EngineError: the backend has no such stack, or its checkpoint cannot be read.
        """
        path = self.current_path()
        if path is None:
            message = f"no stack named {self.stack!r} found in {self.folder.parent}"
            remedy = f"run 'pulumi stack init {self.stack}'"
            if self._records:
                message = f"the state of stack {self.stack} is gone from {self.folder.parent}"
                remedy = f"run 'holdfast recover -s {self.stack}' to rebuild it"
            raise EngineError(message, remedy=remedy, exit_code=ExitCode.NO_STACK)
        return self._deployment(path.read_bytes(), path)

    def current_path(self) -> Path | None:
        """File of the stack's checkpoint, the newest as for the engine; None when there is none.

        Raises:
            EngineError: it lies in the layout of Pulumi before 3.61.
        """
        found = max(self.state_paths(), key=lambda path: path.stat().st_mtime_ns, default=None)
        if found is None and (old := self._path_before_projects()):
            message = f"{old} is the state of stack {self.stack} as Pulumi before 3.61 kept it"
            raise EngineError(message, remedy=UPGRADE_OF_LAYOUT)
        return found

    def _path_before_projects(self) -> Path | None:
        """The stack's file in the layout that knew no projects.

        A folder that is upgraded may still hold stacks of other projects in it.
        """
        name_in_urns = f"urn:pulumi:{self.stack}::{self.project}::".encode()
        for path in _with_compressions(self.folder / "stacks" / f"{self.stack}.json"):
            if not (self.folder / "meta.yaml").is_file():
                return path
            if name_in_urns in decompressed(path.read_bytes(), str(path)):
                return path
        return None

    def state_paths(self) -> list[Path]:
        """Every file that holds a checkpoint of the stack: one, or one for each compression."""
        return _with_compressions(self.folder / "stacks" / self.project / f"{self.stack}.json")

    def holders(self, but: str = "") -> tuple[LockHolder, ...]:
        """Who holds the stack's lock: a run under way, or one that was killed.

        Args:
            but: Name of a lock file to pass over: our own.
        """
        paths = (path for path in sorted(self.locks_folder.glob("*.json")) if path.name != but)
        found = (read_lock(path) for path in paths)
        return tuple(each for each in found if each is not None)

    def warnings(self) -> tuple[str, ...]:
        """What makes the state doubtful: its writers decide what is drift."""
        suspects = (self.folder, self.records_folder, self.current_path())
        said = [
            f"{path} may be written by everybody; run 'chmod o-w {path}'"
            for path in suspects
            if path is not None and path.exists() and path.stat().st_mode & stat.S_IWOTH
        ]
        current, *others = sorted(self.state_paths(), key=_written, reverse=True) or (Path(),)
        said += [f"{path} is older than {current} and not used; delete it" for path in others]
        if self._newest_overlap():
            said.append(
                "the last two runs of the engine were under way at once, each without the other's "
                f"changes; run 'holdfast recover -s {self.stack} --replace' to read what is there"
            )
        return tuple(said)

    def _newest_overlap(self) -> bool:
        """Whether the newest change had begun before the one before it ended: a lock was removed.

        Both times are whole seconds of the same clock or of two: less than two say nothing.
        """
        count = len(self._records)
        if count < 2:  # noqa: PLR2004  (two are compared)
            return False
        before, newest = self.change(count - 2), self.change(count - 1)
        return before.end_time - newest.start_time > 1

    def copies(self) -> Iterator[Path]:
        """Older copies of the checkpoint, the newest first; unreadable ones are left out.

        The engine keeps one beside the checkpoint, and one of every change in the history.
        """
        folder = self.folder / "stacks" / self.project
        beside = [folder / f"{self.stack}.json{suffix}.bak" for suffix in _COMPRESSIONS]
        recorded = [
            self.records_folder / name.replace(".history.json", ".checkpoint.json")
            for _, name in reversed(self._records)
        ]
        there = [path for path in (*beside, *recorded) if path.is_file()]
        for path in sorted(there, key=_written, reverse=True):
            try:
                decode_checkpoint(path.read_bytes(), stack=self.full_name, place=str(path))
            except EngineError:
                continue
            yield path


def _with_compressions(path: Path) -> list[Path]:
    """The files that are there of one name, whatever they are compressed with."""
    paths = (path.with_name(f"{path.name}{suffix}") for suffix in _COMPRESSIONS)
    return [path for path in paths if path.is_file()]


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns


def backend_folder(backend_url: str, root: Path) -> Path:
    """Folder of a `file://` backend: absolute, below the user's home with `~`, else below `root`.

    Args:
        backend_url: As the engine takes it.
        root: Where the engine runs: the project's folder.
    """
    parts = urlsplit(backend_url)
    path = Path(f"{parts.netloc}{parts.path}")
    if path.parts[:1] == ("~",):
        return _home().joinpath(*path.parts[1:])
    return Path(os.path.normpath(root.absolute() / path))


def _home() -> Path:
    """The user's home as the engine finds it: as the system knows it, HOME or not."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path.home()
