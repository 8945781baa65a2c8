"""What a stack declares, kept from the last run: used again only while nothing it is made of moved.

A wrong hit would be a false "clean". So what is kept stands under the content of every file that
may be read, and under the code that reads it; it is kept only if what was read is what was looked
at; and whatever is not exactly as it was written is skipped, and rendered again.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast import __version__
from holdfast.adapters.files import cache_directory, make_private_directory, write_private_file
from holdfast.drift.exemption.ignore import IgnoreRule
from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.project_files import FilesRead, noted_reads, project_digests

_FORMAT: Final = b"holdfast declaration 1"
_FOLDER: Final = "declarations"
_PACKAGES: Final = ("holdfast", "holdfast_policies")
MOST_KEPT: Final = 64
"""Stacks; a machine that makes a fresh clone for every run would fill its disk."""

_NO_PLACE: Final = (OSError, RuntimeError)
"""No such file, no rights, no room; and in a container whose user has no home: no folder."""


@dataclass(frozen=True)
class StackDeclaration:
    """What the files of a project say of one stack; no clock, no cluster, nothing of a machine.

    Plain data: all that a scan of a stack in sync needs of its files, kept from run to run.

    Attributes:
        objects: As they are rendered, JSON data throughout.
        policy_profile: Profile by which live objects are judged.
        policy_rules: What the stack says of single rules, over that profile.
        context: Kubeconfig context of the stack; None for the current one.
        controllers: Controllers that the stack's settings name.
        ignore: Rules on expected drift, whether they have expired or not.
        modes: Agent to what is done about its drift: report, revert or adopt.
    """

    objects: tuple[KubeObject, ...]
    policy_profile: str
    policy_rules: Mapping[str, Any]
    context: str | None
    controllers: tuple[str, ...]
    ignore: tuple[IgnoreRule, ...]
    modes: Mapping[str, str]


_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(StackDeclaration).decode


@dataclass(frozen=True)
class DeclarationCache:
    """The place of what one stack of one project declares; the newest takes the older one's place.

    Attributes:
        project_root: Resolved folder of Pulumi.yaml.
        stack: Name of the stack.
        ignore_file: Rules on expected drift that the user named; None for the project's own.
    """

    project_root: Path
    stack: str
    ignore_file: Path | None = None

    def declaration(self, make: Callable[[], StackDeclaration]) -> StackDeclaration:
        """What is kept, where that still holds; else what is made now, which is kept.

        Law: equal to `make()`.

        Raises:
            HoldfastError: as `make` does.
        """
        seen = project_digests(self.project_root, self.ignore_file)
        code = code_digest()
        if seen is None or not code:
            return make()
        key = _digest(repr((code, self, sorted(seen.items()))).encode())
        kept = self._read(key)
        if kept is not None:
            return kept
        with noted_reads() as read:
            made = make()
        if self._has_settled(seen, read):
            self._write(key, made)
        return made

    def _has_settled(self, seen: dict[str, str], read: FilesRead) -> bool:
        """Whether what was read is what was seen, and what is there now."""
        return read.are_within(seen, self.project_root) and seen == project_digests(
            self.project_root, self.ignore_file
        )

    @property
    def file(self) -> Path:
        """Where it is kept."""
        place = _digest(repr((self.project_root, self.stack)).encode())
        return cache_directory() / _FOLDER / place[:32]

    def _read(self, key: str) -> StackDeclaration | None:
        """What is kept under a key; None when there is nothing, or anything is wrong with it."""
        try:
            with self.file.open("rb") as stream:
                if not _is_ours_alone(os.fstat(stream.fileno())):
                    return None
                head, _, body = stream.read().partition(b"\n")
        except _NO_PLACE:
            return None
        if head != _head(key, body):
            return None
        try:
            return _decode(body)
        except (msgspec.DecodeError, RecursionError):
            return None

    def _write(self, key: str, made: StackDeclaration) -> None:
        """Keep it, unless it holds a Secret or would not read back as it is."""
        if any(one["kind"] == "Secret" for one in made.objects):
            return
        body = _encode(made)
        if _decode(body) != made:
            return
        with suppress(*_NO_PLACE):
            make_private_directory(self.file.parent)
            write_private_file(self.file, _head(key, body) + b"\n" + body)
            _drop_oldest(self.file.parent)


def code_digest() -> str:
    """Digest of the program: its files, the Python that runs it, the packages installed beside it.

    By names, sizes and times, as Python itself decides whether to compile a module again. Empty
    where it is not known: the program is no folder of files.
    """
    parts: list[object] = [__version__, sys.version]
    try:
        for package in _PACKAGES:
            spec = find_spec(package)
            for folder in (spec.submodule_search_locations or ()) if spec else ():
                parts += sorted(_stamps(folder))
        parts += [
            (folder, os.stat(folder).st_mtime_ns)  # noqa: PTH116  (paths cost more than the call)
            for folder in sys.path
            if folder.endswith("-packages") and os.path.isdir(folder)  # noqa: PTH112  (as above)
        ]
    except OSError:
        return ""
    return _digest(repr(parts).encode())


def _stamps(folder: str) -> list[tuple[str, int, int]]:
    """Path, size and time of every file of a package, compiled ones left out."""
    found: list[tuple[str, int, int]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                found += _stamps(entry.path) if entry.name != "__pycache__" else ()
            else:
                status = entry.stat()
                found.append((entry.path, status.st_size, status.st_mtime_ns))
    return found


def _drop_oldest(folder: Path) -> None:
    """Leave the newest."""
    newest = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in newest[MOST_KEPT:]:
        path.unlink(missing_ok=True)


def _is_ours_alone(status: os.stat_result) -> bool:
    """Whether nobody else can have written a file: who writes it decides what is drift."""
    return status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS


def _head(key: str, body: bytes) -> bytes:
    return b" ".join((_FORMAT, key.encode(), _digest(body).encode()))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
