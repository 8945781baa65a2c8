"""Where the journals of a stack are: one folder a stack, one file a kind of journal.

`STATE/history/PROJECT/STACK/scans.jsonl`. A stack is named by its last part, so that
`organization/project/dev` and `dev` are one; a dot in its name is a dot in a folder's name, so
that `prod` and `prod.updates` share nothing. A file under its name of earlier versions is moved to
the new one when it is first asked for, or read where it is when it cannot be moved.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from holdfast.adapters.files.atomic_write import write_private_file
from holdfast.adapters.journal.journal import DIRECTORY_MODE


class JournalKind(Enum):
    """A kind of journal: its file, the end of its earlier name, and what begins its lines there."""

    SCANS = ("scans.jsonl", ".jsonl", "holdfast.dev/drift-history/")
    UPDATES = ("updates.jsonl", ".updates.jsonl", "holdfast.dev/updates/")
    GATES = ("gates.jsonl", ".gates.jsonl", "holdfast.dev/gate/")


def journal_file(state_folder: Path, project: str, stack: str, kind: JournalKind) -> Path:
    """The file of one kind of journal of a stack; it need not exist."""
    name, old_end, marker = kind.value
    *owner, short_name = stack.split("/")
    history = state_folder / "history" / project
    file = history / short_name / name
    if file.exists():
        return file
    for old in _old_files(history, owner, short_name, old_end):
        try:
            lines = old.read_bytes().splitlines(keepends=True)
        except OSError:
            return old
        ours = [line for line in lines if marker.encode() in line[:80]]
        if not ours:
            continue
        return _moved(old, file, b"".join(ours) if _is_shared(lines, kind) else None)
    return file


def _old_files(history: Path, owner: list[str], name: str, end: str) -> Iterator[Path]:
    """Files of the stack under earlier names, the one that was written last first."""
    short = history / f"{name}{end}"
    long = [history.joinpath(*owner, short.name)] if owner else history.glob(f"*/*/{short.name}")
    found = {each for each in (short, *long) if each.is_file()}
    yield from sorted(found, key=lambda each: each.stat().st_mtime_ns, reverse=True)


def _is_shared(lines: list[bytes], kind: JournalKind) -> bool:
    """Whether a file holds lines of another kind: of a stack whose name ends like a kind."""
    others = [each.value[2].encode() for each in JournalKind if each is not kind and each.value[2]]
    return any(other in line[:80] for line in lines for other in others)


def _moved(old: Path, file: Path, content: bytes | None) -> Path:
    """The file under its new name, with some of the content only where that is given."""
    try:
        file.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        if content is None:
            old.rename(file)
        else:
            write_private_file(file, content)
    except OSError:
        return file if file.exists() else old
    return file
