"""The API server's audit log from a file: the writes that it records."""

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from holdfast.errors import InputError
from holdfast.kube.audit import AuditEvent, parse_event

_GZIP: Final = b"\x1f\x8b"
_BATCH: Final = b'"EventList"'
_LEASES: Final = b'"resource":"leases"'
"""Leases are nearly all of an audit log and never drift: dropped before a line is decoded."""


def read_audit_log(source: Path) -> Iterator[AuditEvent]:
    """Writes and sessions that an audit log records; other entries are skipped.

    Args:
        source: A log file; a folder of rotated ones, compressed or not; or of batches as the API
            server posts them to a webhook. In any order: who asks sorts by time.

    Raises:
        InputError: it cannot be read.
    """
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    for file in files:
        if not file.is_file() or file.name.startswith("."):
            continue
        try:
            with file.open("rb") as raw:
                is_compressed = raw.read(2) == _GZIP
                raw.seek(0)
                yield from _events_in(gzip.GzipFile(fileobj=raw) if is_compressed else raw)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"{file}: {getattr(error, 'strerror', None) or error}",
                remedy="leave --audit-log out to go without users",
            ) from error


def _events_in(lines: Iterable[bytes]) -> Iterator[AuditEvent]:
    for number, line in enumerate(lines):
        if number == 0 and line.strip() in {b"{", b"["}:
            # A batch over many lines: one document.
            yield from _events_of_batch(b"".join([line, *lines]))
            return
        if _BATCH in line[:200]:
            yield from _events_of_batch(line)
        elif _LEASES not in line and (event := parse_event(line)) is not None:
            yield event


def _events_of_batch(text: bytes) -> Iterator[AuditEvent]:
    """Events of an EventList, or of a plain list of events."""
    try:
        batch = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return
    items = batch.get("items") if isinstance(batch, dict) else batch
    for item in items if isinstance(items, list) else ():
        if (event := parse_event(msgspec.json.encode(item))) is not None:
            yield event


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
