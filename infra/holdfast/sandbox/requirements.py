"""What a start needs of the machine, checked before anything starts: memory, disk, free ports."""

import os
import random
import shutil
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from holdfast.adapters.files import make_private_directory
from holdfast.errors import SandboxError
from holdfast.sandbox.paths import LOOPBACK, SandboxPaths
from holdfast.sandbox.record import Ports

_CHOSEN_FROM: Final = range(20_000, 30_000)
"""Below what kernels give to outgoing connections: a client that tries a server again and again
while that restarts would be given the very port, be connected to itself, and keep it. Below
the node ports of Kubernetes, too, which a machine may forward."""


def choose_ports() -> Ports:
    """Choose ports that are free now."""
    with ExitStack() as open_sockets:
        # All stay open until all are chosen, so that no two are the same.
        numbers = [_free_port(open_sockets) for _ in range(3)]
    return Ports(*numbers)


def busy_ports(ports: Ports) -> tuple[int, ...]:
    """Those of a stopped sandbox's ports that another program listens on by now."""
    numbers = (ports.api_server, ports.etcd, ports.etcd_peer)
    return tuple(number for number in numbers if not _is_free(number))


def _free_port(open_sockets: ExitStack) -> int:
    probe = open_sockets.enter_context(socket.socket())
    for number in random.sample(_CHOSEN_FROM, len(_CHOSEN_FROM)):
        with suppress(OSError):
            probe.bind((LOOPBACK, number))
            return number
    probe.bind((LOOPBACK, 0))
    return int(probe.getsockname()[1])


def _is_free(number: int) -> bool:
    with socket.socket() as probe:
        # Connections of the last run may linger in TIME_WAIT; a listener still refuses this bind.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, number))
        except OSError:
            return False
    return True


MEMORY_BYTES = 640 * 1024**2
DISK_BYTES = 512 * 1024**2
"""etcd lays out 200 MB at once; the rest is for logs and objects."""

_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")
_MEMORY_USED = Path("/sys/fs/cgroup/memory.current")
_MEMORY_FACTS = Path("/proc/meminfo")
_ELSEWHERE = "set HOLDFAST_STATE to a folder that you may write"


def require_linux() -> None:
    """Refuse other systems: processes are identified by /proc and signalled by pidfd."""
    remedy = "use a newer Linux machine or container, or any cluster of yours by its context"
    if sys.platform != "linux":
        raise SandboxError(f"the sandbox runs on Linux only, this is {sys.platform}", remedy=remedy)
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        raise SandboxError("the sandbox needs Linux 5.3 or newer", remedy=remedy) from error


def prepare_folder(place: SandboxPaths) -> None:
    """Make the folder in which sandboxes lie, and refuse one that is not this user's own."""
    folder = place.directory.parent
    try:
        make_private_directory(folder)
    except OSError as error:
        message = f"the state folder {folder} cannot be written: {error.strerror}"
        raise SandboxError(message, remedy=_ELSEWHERE) from error
    for path in (folder, place.directory):
        if path.exists() and (owner := path.stat().st_uid) != os.geteuid():
            message = f"{path} belongs to user {owner}, this command runs as {os.geteuid()}"
            raise SandboxError(message, remedy=f"run as that user, or {_ELSEWHERE}")
    if place.directory.exists() and not place.record.exists() and _has_content(place.directory):
        message = f"{place.directory} exists and is no sandbox"
        raise SandboxError(message, remedy="move it away, or take another --name")


def require_resources(place: SandboxPaths) -> None:
    """Refuse to start without the disk space and memory that the programs take at once."""
    free_disk = free_disk_bytes(place.directory.parent)
    if free_disk < DISK_BYTES:
        message = (
            f"{_megabytes(free_disk)} free at {place.directory.parent}, "
            f"a sandbox needs {_megabytes(DISK_BYTES)}"
        )
        raise SandboxError(message, remedy="free some space, or set HOLDFAST_STATE elsewhere")
    free_memory = available_memory_bytes()
    if free_memory is not None and free_memory < MEMORY_BYTES:
        message = (
            f"{_megabytes(free_memory)} of memory available, "
            f"a sandbox needs {_megabytes(MEMORY_BYTES)}"
        )
        remedy = "stop another program, or another sandbox ('holdfast sandbox list')"
        raise SandboxError(message, remedy=remedy)


def free_disk_bytes(folder: Path) -> int:
    """Space that this user may take on the disk of a folder."""
    return shutil.disk_usage(folder).free


def available_memory_bytes() -> int | None:
    """Memory that new programs may take: the machine's, or less by a container's limit."""
    numbers = [number for number in (_machine_memory(), _container_memory()) if number is not None]
    return min(numbers, default=None)


def _has_content(folder: Path) -> bool:
    # A start that was killed at once leaves no more than a scratch file.
    return any(not entry.name.startswith(".") for entry in folder.iterdir())


def _machine_memory() -> int | None:
    try:
        lines = _MEMORY_FACTS.read_text().splitlines()
    except OSError:
        return None
    available = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return next((int(kibibytes) * 1024 for kibibytes in available), None)


def _container_memory() -> int | None:
    try:
        return int(_MEMORY_LIMIT.read_text()) - int(_MEMORY_USED.read_text())
    except (OSError, ValueError):  # no control group, or no limit ("max")
        return None


def _megabytes(count: int) -> str:
    return f"{count // 1024**2} MiB"
