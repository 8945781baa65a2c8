"""Read the logs of a sandbox: the last lines, and what is written from then on."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.programs import NODE, PROGRAMS

AUDIT = "audit"
NODE_LOG_NAMES = (NODE.name, "containerd", "kubelet", "kube-proxy", "node-agent")
"""A real node's own, and those of the programs in it."""
LOG_NAMES = (*(program.name for program in PROGRAMS), *NODE_LOG_NAMES, AUDIT)
POLL_SECONDS = 0.2
_BLOCK_BYTES = 64 * 1024


def log_files(place: SandboxPaths, name: str | None = None) -> dict[str, Path]:
    """The log of one program or the audit log; without a name those of all programs."""
    if name == AUDIT:
        return {AUDIT: place.audit_log}
    names = [name] if name else [program.name for program in PROGRAMS]
    if not name and place.log(NODE.name).exists():
        names += NODE_LOG_NAMES
    return {each: place.log(each) for each in names}


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines of a log; none when the program has not written one yet."""
    try:
        with log.open("rb") as file:
            return _tail(file, count)
    except FileNotFoundError:
        return []


def follow(logs: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Each line written from this call on, with the name of its log; never ends by itself."""
    return _new_lines([_Follower(name, path) for name, path in logs.items()])


def _new_lines(followers: list["_Follower"]) -> Iterator[tuple[str, str]]:
    while True:
        for follower in followers:
            yield from follower.new_lines()
        time.sleep(POLL_SECONDS)


def _tail(file: BinaryIO, count: int) -> list[str]:
    """Read backwards block by block: an audit log may have a hundred megabytes."""
    position = file.seek(0, os.SEEK_END)
    data = b""
    while position > 0 and data.count(b"\n") <= count:
        position = file.seek(max(0, position - _BLOCK_BYTES))
        data = file.read(_BLOCK_BYTES + len(data))
    lines = data.decode(errors="replace").splitlines()
    return lines[-count:] if count else []


class _Follower:
    """Reads on in one log, also when it is rotated or the sandbox is recreated."""

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._path = path
        self._rest = b""
        self._file_number, self._position = self._current()

    def new_lines(self) -> Iterable[tuple[str, str]]:
        """Whole lines written since the last look."""
        number, size = self._current()
        if number != self._file_number or size < self._position:
            self._file_number, self._position, self._rest = number, 0, b""
        if size == self._position:
            return []
        try:
            data = self._read_on()
        except FileNotFoundError:  # rotated this very moment: the next look finds the new file
            return []
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [(self._name, line.decode(errors="replace")) for line in lines]

    def _read_on(self) -> bytes:
        with self._path.open("rb") as file:
            file.seek(self._position)
            data = file.read()
        self._position += len(data)
        return data

    def _current(self) -> tuple[int, int]:
        try:
            facts = self._path.stat()
        except FileNotFoundError:
            return 0, 0
        return facts.st_ino, facts.st_size
