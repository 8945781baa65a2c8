"""Files of this machine: Holdfast's folders, and writes that are whole or do not happen."""

import os
import stat
from pathlib import Path
from typing import Final

PRIVATE_FILE_MODE: Final = 0o600
PRIVATE_DIRECTORY_MODE: Final = 0o700
_NEW_FILE_MODE: Final = 0o666  # the process's umask takes the rest


def write_atomically(
    file: Path, content: str | bytes, *, mode: int | None = None, is_durable: bool = True
) -> None:
    """Replace a file's content in one step; a link keeps leading where it led.

    What is no regular file, such as a pipe or a terminal, is written to directly.

    Args:
        file: In a folder that exists.
        content: Text is written as UTF-8.
        mode: Rights of the file; without, an existing file keeps its own.
        is_durable: Whether it survives a power cut; what is rebuilt when it is damaged need not.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        before = file.stat().st_mode
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before):
        file.write_bytes(data)
        return
    wanted = stat.S_IMODE(before) if mode is None and before is not None else mode
    target = file.resolve()
    scratch = target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}")
    created = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, wanted or _NEW_FILE_MODE)
    try:
        with os.fdopen(created, "wb") as out:
            out.write(data)
            out.flush()
            if is_durable:
                os.fsync(out.fileno())
        if wanted is not None:
            scratch.chmod(wanted)
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def write_private_file(file: Path, content: str | bytes) -> None:
    """Replace a file in one step; only its owner may read it.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    write_atomically(file, content, mode=PRIVATE_FILE_MODE)


def make_private_directory(path: Path) -> None:
    """Make a folder (and its parents) with mode 700; an existing one is narrowed to that mode."""
    path.mkdir(mode=PRIVATE_DIRECTORY_MODE, parents=True, exist_ok=True)
    path.chmod(PRIVATE_DIRECTORY_MODE)


def state_directory() -> Path:
    """What must be kept: HOLDFAST_STATE, else `holdfast` in the XDG state folder."""
    if explicit := os.environ.get("HOLDFAST_STATE"):
        return Path(explicit).absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state").absolute() / "holdfast"


def cache_directory() -> Path:
    """What can be rebuilt: HOLDFAST_CACHE, else `holdfast` in the XDG cache folder."""
    if explicit := os.environ.get("HOLDFAST_CACHE"):
        return Path(explicit).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "holdfast"
