"""An append-only file of JSON lines that several programs may write at once.

The kernel's lock keeps writers apart and goes with its holder, however that ends. A line that a
crash has torn is passed over by readers and ended by the next writer; nothing is ever rewritten.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import HoldfastError

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700


class JournalError(HoldfastError):
    """The journal cannot be read or written."""


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

    @contextmanager
    def appending(self) -> Iterator["JournalWriter"]:
        """Hold the journal against other writers, read it, and add to it.

        Raises:
            JournalError: the file or its folder cannot be made, read or written.
        """
        try:
            self.path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
        except OSError as error:
            raise self._failed(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield JournalWriter(self, handle)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(handle)

    def _failed(self, error: OSError) -> JournalError:
        return JournalError(
            f"{self.path}: {error.strerror or error}",
            remedy="name another file with --history, or leave it out with --no-history",
        )


@dataclass(frozen=True)
class JournalWriter:
    """The right to append to a journal."""

    journal: Journal
    handle: int

    def append(self, line: bytes) -> None:
        """Add one line; a torn line before it is ended first, so that it spoils no other."""
        assert b"\n" not in line  # noqa: S101  (JSON has no bare line ends)
        data = line + b"\n"
        size = os.fstat(self.handle).st_size
        if size and os.pread(self.handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(self.handle, data) :]
