"""Writing a file whole or not at all: a crash leaves what was there before."""

import os
import stat
from contextlib import suppress
from pathlib import Path

_PRIVATE_MODE = 0o600
_NEW_MODE = 0o666
"""Of a new file, before the user's mask is taken off."""


def write_whole(file: Path, text: str) -> None:
    """Replace a file's text in one step; its rights stay, a link goes on leading where it led.

    What is no file of a folder, such as a pipe or a terminal, is written to directly.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        file.write_text(text, encoding="utf-8")
        return
    _replace(file.resolve(), text.encode(), None if mode is None else stat.S_IMODE(mode))


def write_private(file: Path, data: bytes) -> None:
    """Replace a file in one step by one that its owner alone may read, at any moment.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    _replace(file, data, _PRIVATE_MODE)


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        # Never readable by more than in the end, not for a moment.
        handle = os.open(scratch, flags, _NEW_MODE if mode is None else mode & _PRIVATE_MODE)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            scratch.chmod(mode)
        scratch.replace(target)
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()
