"""The API server's audit log from a file: the writes it tells of."""

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
