"""Where the journals of a stack are, and a file of JSON lines that several programs may append to.

`STATE/history/PROJECT/STACK/scans.jsonl`. A stack is named by its last part: `organization/project/
dev` and `dev` are one; a dot in its name is a dot in a folder's name, so that `prod` and
`prod.updates` share nothing. A file under the name of an earlier version is moved at first use, or
read where it is when it cannot be moved.

The kernel's lock keeps writers apart and ends with its holder. The next writer ends a line that a
crash has torn. Only a writer that shortens the journal replaces the file, in one step; the others
then open the new one.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import msgspec

from holdfast.adapters.files import write_atomically, write_private_file
from holdfast.errors import HoldfastError


class JournalKind(Enum):
    """A kind of journal: its file, the end of its earlier name, and what begins its lines there."""

    SCANS = ("scans.jsonl", ".jsonl", "holdfast.dev/drift-history/")
    UPDATES = ("updates.jsonl", ".updates.jsonl", "holdfast.dev/updates/")
    GATES = ("gates.jsonl", ".gates.jsonl", "holdfast.dev/gate/")


def journal_file(state_folder: Path, project: str, stack: str, kind: JournalKind) -> Path:
    """The file of one kind of journal of a stack; it need not exist."""
    name, old_end, marker = kind.value
    *owner, short_name = stack.split("/")
    history = state_folder / "history" / project
    file = history / short_name / name
    if file.exists():
        return file
    for old in _old_files(history, owner, short_name, old_end):
        try:
            lines = old.read_bytes().splitlines(keepends=True)
        except OSError:
            return old
        ours = [line for line in lines if marker.encode() in line[:80]]
        if not ours:
            continue
        return _moved(old, file, b"".join(ours) if _is_shared(lines, kind) else None)
    return file


def _old_files(history: Path, owner: list[str], name: str, end: str) -> Iterator[Path]:
    """Files of the stack under earlier names, the one that was written last first."""
    short = history / f"{name}{end}"
    long = [history.joinpath(*owner, short.name)] if owner else history.glob(f"*/*/{short.name}")
    found = {each for each in (short, *long) if each.is_file()}
    yield from sorted(found, key=lambda each: each.stat().st_mtime_ns, reverse=True)


def _is_shared(lines: list[bytes], kind: JournalKind) -> bool:
    """Whether a file holds lines of another kind: of a stack whose name ends like a kind."""
    others = [each.value[2].encode() for each in JournalKind if each is not kind and each.value[2]]
    return any(other in line[:80] for line in lines for other in others)


def _moved(old: Path, file: Path, content: bytes | None) -> Path:
    """The file under its new name, with some of the content only where that is given."""
    try:
        file.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        if content is None:
            old.rename(file)
        else:
            write_private_file(file, content)
    except OSError:
        return file if file.exists() else old
    return file


FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_TAIL_BYTES = 4096


class JournalError(HoldfastError):
    """The journal cannot be read or written."""


class Covered(msgspec.Struct, frozen=True):
    """What identifies one content of a journal: its size, and a digest of its end."""

    size_bytes: int = 0
    tail: str = hashlib.sha256().hexdigest()

    @classmethod
    def of(cls, content: bytes) -> "Covered":
        """Of a whole content."""
        return cls(len(content), hashlib.sha256(content[-_TAIL_BYTES:]).hexdigest())

    @classmethod
    def of_file(cls, handle: int) -> "Covered":
        """Of a file that is open; a device or a pipe has none."""
        size = os.fstat(handle).st_size
        if not size:
            return cls()
        tail = os.pread(handle, _TAIL_BYTES, max(0, size - _TAIL_BYTES))
        return cls(size, hashlib.sha256(tail).hexdigest())


@dataclass(frozen=True)
class Journal:
    """One file; it need not exist before the first line is written."""

    path: Path

    def lines(self) -> list[bytes]:
        """Every line, without its end; the last one may be torn.

        Raises:
            JournalError: the file is there and cannot be read.
        """
        try:
            return self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._failed(error) from error

    def covered(self) -> Covered:
        """Which content it has now.

        Raises:
            JournalError: the file is there and cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                return Covered.of_file(file.fileno())
        except FileNotFoundError:
            return Covered()
        except OSError as error:
            raise self._failed(error) from error

    @contextmanager
    def appending(self) -> Iterator["JournalWriter"]:
        """Hold the journal against other writers, read it, and add to it.

        Raises:
            JournalError: the file or its folder cannot be made, read or written.
        """
        try:
            self.path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            handle = self._locked()
        except OSError as error:
            raise self._failed(error) from error
        try:
            yield JournalWriter(self, handle)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(handle)

    def _locked(self) -> int:
        """The file of this name, locked; one that was replaced meanwhile is opened again."""
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(handle), self.path.stat()):
                    return handle
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)

    def _failed(self, error: OSError) -> JournalError:
        return JournalError(
            f"{self.path}: {error.strerror or error}",
            remedy="name another file with --history, or leave it out with --no-history",
        )


@dataclass(frozen=True)
class JournalWriter:
    """The right to write a journal."""

    journal: Journal
    handle: int

    @property
    def is_file(self) -> bool:
        """Whether it is kept in a folder, and not a device or a pipe."""
        return stat.S_ISREG(os.fstat(self.handle).st_mode)

    def covered(self) -> Covered:
        """Which content it has now."""
        return Covered.of_file(self.handle)

    def append(self, line: bytes) -> None:
        """Add one line; a torn line before it is ended first, so that it spoils no other."""
        assert b"\n" not in line  # noqa: S101  (JSON has no bare line ends)
        data = line + b"\n"
        size = os.fstat(self.handle).st_size
        if size and os.pread(self.handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(self.handle, data) :]

    def replace(self, lines: Iterable[bytes]) -> bytes:
        """Put these lines in the place of all; gives the whole content.

        It is the last thing to do with this writer: the file that it holds is the old one.
        """
        content = b"".join(line + b"\n" for line in lines)
        write_atomically(self.journal.path, content)
        return content
