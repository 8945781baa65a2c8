"""A file of JSON lines that several programs may write at once.

The kernel's lock keeps writers apart and goes with its holder, however that ends. A line that a
crash has torn is ended by the next writer. Lines are appended; only a writer that shortens the
journal replaces the file, in one step, and then everybody else opens the new one.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from holdfast.adapters.files.atomic_write import write_atomically
from holdfast.errors import HoldfastError

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_TAIL_BYTES = 4096


class JournalError(HoldfastError):
    """The journal cannot be read or written."""


class Covered(msgspec.Struct, frozen=True):
    """What tells one content of a journal from another: its size, and a digest of its end."""

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
