"""The API server's audit log from a file: the writes it tells of."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from holdfast.errors import InputError
from holdfast.kube.audit import AuditEvent, parse_event

_LEASES: Final = b'"resource":"leases"'
"""Leases are nearly all of an audit log and never drift: dropped before a line is decoded."""


def read_audit_log(file: Path) -> Iterator[AuditEvent]:
    """Writes in the order of the log; lines that tell of none are passed over.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with file.open("rb") as lines:
            for line in lines:
                if _LEASES not in line and (event := parse_event(line)) is not None:
                    yield event
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror}", remedy="leave --audit-log out to go without users"
        ) from error


class AuditTail:
    """An audit log that is still written: each reading takes what has come since the last one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._inode = 0
        self._offset = 0

    def read_new(self) -> Iterator[AuditEvent]:
        """Writes that were not read before; from the beginning of a file that took its place.

        Raises:
            InputError: the file cannot be read.
        """
        try:
            with self._file.open("rb") as lines:
                status = os.fstat(lines.fileno())
                if status.st_ino != self._inode or status.st_size < self._offset:
                    self._inode, self._offset = status.st_ino, 0
                lines.seek(self._offset)
                for line in lines:
                    if not line.endswith(b"\n"):
                        return  # still being written
                    self._offset += len(line)
                    if _LEASES not in line and (event := parse_event(line)) is not None:
                        yield event
        except FileNotFoundError:
            return  # between two files of a rotation
        except OSError as error:
            raise InputError(f"{self._file}: {error.strerror}") from error
