"""Which files of a project say what a stack wants, and what is in them: for whoever keeps a result.

What was made from a project's files may be used again while every one of them is as it was. Two
halves say so together: `project_digests` looks at everything that may be read, and `noted_reads`
notes what was read. Only what the first has seen, in the very bytes of the second, may be kept.

Light on purpose: nothing here loads the models.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

AGENTS_FOLDER: Final = "agents"
STACKS_FOLDER: Final = "stacks"
RULES_FOLDER: Final = "policy-pack/rules"


@dataclass
class FilesRead:
    """What a reading has read.

    Attributes:
        digests: File to the digest of the bytes that were read.
        is_repeatable: False once a link decided what was read: it may lead elsewhere next time.
    """

    digests: dict[Path, str] = field(default_factory=dict)
    is_repeatable: bool = True

    def are_within(self, seen: dict[str, str], project_root: Path) -> bool:
        """Whether all that was read is what `project_digests` has seen, byte for byte.

        Args:
            seen: As `project_digests` gave it before the reading.
            project_root: Resolved folder of Pulumi.yaml.
        """
        return self.is_repeatable and all(
            seen.get(_name(path, project_root)) == digest for path, digest in self.digests.items()
        )


_NOTED: ContextVar[FilesRead | None] = ContextVar("noted reads", default=None)


@contextmanager
def noted_reads() -> Iterator[FilesRead]:
    """Note every file that `source_text.read_text` reads in this thread until the end."""
    read = FilesRead()
    token = _NOTED.set(read)
    try:
        yield read
    finally:
        _NOTED.reset(token)


def note_read(path: Path, content: bytes) -> None:
    """Tell that a file was read; nothing where nobody takes notes."""
    read = _NOTED.get()
    if read is not None:
        read.digests[path] = _digest(content)


def note_link(written: Path, resolved: str) -> None:
    """Tell which file a written path led to: by a link, when the two are not the same."""
    read = _NOTED.get()
    if read is not None and os.path.normpath(written.absolute()) != resolved:
        read.is_repeatable = False


def project_digests(project_root: Path, further_file: Path | None = None) -> dict[str, str] | None:
    """Digest of every file in `agents/`, `stacks/` and of own rules, at any depth, hidden ones too.

    Args:
        project_root: Resolved folder of Pulumi.yaml.
        further_file: One more file, wherever it is.

    Returns:
        Name to digest, names relative to the project where a file lies inside; None where that
        does not settle what would be read: a link, a pipe, a file or folder that cannot be read.
    """
    found: dict[str, str] = {}
    try:
        rules = (RULES_FOLDER,) if (project_root / RULES_FOLDER).is_dir() else ()
        for folder in (AGENTS_FOLDER, STACKS_FOLDER, *rules):
            for name, path in _regular_files(str(project_root / folder), folder):
                with open(path, "rb") as stream:  # noqa: PTH123  (a path costs more than the read)
                    found[name] = _digest(stream.read())
        if further_file is not None:
            further = further_file.absolute()
            if further.resolve() != further:
                return None
            found[_name(further, project_root)] = _digest(further.read_bytes())
    except OSError:
        return None
    return found


def _regular_files(folder: str, name: str) -> Iterator[tuple[str, str]]:
    """Name in the project, and path, of every file below a folder.

    Raises:
        OSError: one of them, or a folder, is none, or cannot be looked at.
    """
    if os.path.islink(folder):  # noqa: PTH114  (as above)
        raise OSError(f"{folder} is a link")
    with os.scandir(folder) as entries:
        for entry in entries:
            within = f"{name}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _regular_files(entry.path, within)
            elif entry.is_file(follow_symlinks=False):
                yield within, entry.path
            else:
                raise OSError(f"{entry.path} is no regular file")


def _name(path: Path, project_root: Path) -> str:
    return (
        path.relative_to(project_root).as_posix()
        if path.is_relative_to(project_root)
        else str(path)
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
