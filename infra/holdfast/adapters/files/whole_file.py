"""Writing a file whole or not at all: a crash leaves what was there before."""

import os
import stat
from contextlib import suppress
from pathlib import Path


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
    target = file.resolve()
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with scratch.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            scratch.chmod(stat.S_IMODE(mode))
        scratch.replace(target)
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()
