"""Writing a file whole or not at all: a crash leaves what was there before."""

import os
import stat
from contextlib import suppress
from pathlib import Path

_PRIVATE = 0o600


def write_whole(
    file: Path, content: str | bytes, *, mode: int = 0o666, is_durable: bool = True
) -> None:
    """Replace a file's content in one step; its rights stay, a link goes on leading where it led.

    What is no file of a folder, such as a pipe or a terminal, is written to directly.

    Args:
        file: The file; it need not exist.
        content: All of it; text is written as UTF-8.
        mode: Rights of a new file, of which the process's mask takes some away.
        is_durable: Whether it survives a power cut; what can be made again need not.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        old_mode = file.stat().st_mode
    except FileNotFoundError:
        old_mode = None
    if old_mode is not None and not stat.S_ISREG(old_mode):
        file.write_bytes(data)
        return
    target = file.resolve()
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        handle = os.open(
            scratch,
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW,
            mode if old_mode is None else _PRIVATE,
        )
        with os.fdopen(handle, "wb") as out:
            if old_mode is not None:
                os.fchmod(handle, stat.S_IMODE(old_mode))
            out.write(data)
            out.flush()
            if is_durable:
                os.fsync(handle)
        scratch.replace(target)
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()
