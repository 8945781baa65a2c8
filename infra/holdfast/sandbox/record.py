"""What a sandbox recorded about itself, and the lock under which one command at a time changes it.

The record holds its ports and the processes it started. It is written whole after every change,
before anything else happens, so that the next command (also after a crash) knows exactly which
processes it may signal.
"""

import dataclasses
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from holdfast.adapters.files import PRIVATE_FILE_MODE, write_private_file
from holdfast.errors import SandboxError
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import ProcessIdentity

FORMAT = 1
TOKEN_VARIABLE = "HOLDFAST_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable, not a credential


@dataclass(frozen=True, slots=True)
class Ports:
    """TCP ports on the loopback address."""

    api_server: int
    etcd: int
    etcd_peer: int


@dataclass(frozen=True, slots=True)
class SandboxRecord:
    """The record of one sandbox.

    Attributes:
        token: Random text in the environment of every process of this sandbox.
        ports: Where it listens.
        processes: Program name to the process last started for it, running or not.
        has_node: Whether a real node runs beside the simulated ones.
        format: Version of this file's layout.
    """

    token: str
    ports: Ports
    processes: dict[str, ProcessIdentity] = field(default_factory=dict)
    has_node: bool = False
    format: int = FORMAT

    def with_process(self, program: str, identity: ProcessIdentity) -> "SandboxRecord":
        """The record with one more process, or with a program's new one."""
        return dataclasses.replace(self, processes={**self.processes, program: identity})


def read_record(place: SandboxPaths) -> SandboxRecord | None:
    """Read a sandbox's record; None when there is no such sandbox.

    Raises:
        SandboxError: the file is there but says nothing that can be relied on.
    """
    try:
        record = msgspec.json.decode(place.record.read_bytes(), type=SandboxRecord)
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{place.record} cannot be read: {error.strerror}"
        remedy = "run as the user who started the sandbox, or set HOLDFAST_STATE to another folder"
        raise SandboxError(message, remedy=remedy) from error
    except msgspec.MsgspecError as error:
        message = f"{place.record} is not a sandbox's record ({error})"
        raise SandboxError(message, remedy=_damaged_remedy(place)) from error
    if record.format != FORMAT:
        message = f"{place.record} has format {record.format}, this version reads {FORMAT}"
        raise SandboxError(message, remedy=_damaged_remedy(place))
    return record


def write_record(place: SandboxPaths, record: SandboxRecord) -> None:
    """Replace a sandbox's record."""
    write_private_file(place.record, msgspec.json.format(msgspec.json.encode(record)))


def _damaged_remedy(place: SandboxPaths) -> str:
    return (
        f"end the programs started from {place.directory}, if any still run, and remove that folder"
    )


@contextmanager
def exclusive(place: SandboxPaths, report: Callable[[str], None]) -> Iterator[None]:
    """Hold a sandbox's lock; waits, and says so, while another command holds it.

    The kernel releases the lock when its holder ends in whatever way. The file stays: removing it
    would let two commands hold two locks of one name.
    """
    handle = os.open(place.lock, os.O_RDWR | os.O_CREAT, PRIVATE_FILE_MODE)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another command is changing sandbox {place.name}, waiting for it ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_held(place: SandboxPaths) -> bool:
    """Whether some command is changing the sandbox right now."""
    try:
        handle = os.open(place.lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
