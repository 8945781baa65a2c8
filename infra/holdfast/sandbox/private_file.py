"""Files and folders that only their owner may read: keys, kubeconfigs, the audit log."""

import os
from pathlib import Path

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


def make_private_directory(path: Path) -> None:
    """Make a folder (and its parents) with mode 700; an existing one is narrowed to that mode."""
    path.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    path.chmod(DIRECTORY_MODE)


def write_private_file(path: Path, data: bytes) -> None:
    """Write a file with mode 600, whole or not at all: readers never see half of it."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
