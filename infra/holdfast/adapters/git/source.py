"""What a project's folder holds: which commit, whose, and what is not committed."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.git.repository import GitError, run_git
from holdfast.errors import InputError
from holdfast.manifest.text.documents import read_documents

_FIELDS = ("%H", "%an <%ae>", "%aI", "%s", "%(trailers:key=Pull-Request,valueonly)")
_SEPARATOR = "\x1f"
_END = "\x1e"
_MERGED = re.compile(r"Merge pull request #(\d+)|\(#(\d+)\)$|See merge request \S*!(\d+)")
SHORT_DIGITS = 12
_STACK_FILE = re.compile(r"(?:^|/)Pulumi\.[^/]+\.ya?ml$")
_SALT = "encryptionsalt"


@dataclass(frozen=True)
class Commit:
    """One commit.

    Attributes:
        author: `Name <address>`.
        author_time: RFC 3339, as its author's clock had it.
        subject: First line of its message.
        pull_request: Number or address of the pull request that its message names; else empty.
    """

    name: str
    author: str
    author_time: str
    subject: str
    pull_request: str = ""

    @property
    def short(self) -> str:
        """The first digits of its name."""
        return self.name[:SHORT_DIGITS]


@dataclass(frozen=True)
class Source:
    """What the files of a project are.

    Attributes:
        commit: The commit that is checked out.
        changed: Files of the project that are not as committed, new ones too; sorted.
        changed_digest: SHA-256 of the names and contents of those files; empty for none.
    """

    commit: Commit
    changed: tuple[str, ...] = ()
    changed_digest: str = ""

    @property
    def is_dirty(self) -> bool:
        """Whether the files are those of no commit."""
        return bool(self.changed)


def commit_named(folder: Path, name: str) -> Commit:
    """The commit that a branch, tag or abbreviated hash stands for.

    Raises:
        InputError: there is none.
    """
    form = _SEPARATOR.join(_FIELDS)
    try:
        found = run_git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        shown = run_git(folder, "log", "-1", f"--format={form}", found)
    except GitError as error:
        raise InputError(
            f"there is no commit {name!r} in the repository of {folder}",
            remedy="see `git log`; fetch it first if it is on another machine",
        ) from error
    return _commit(shown)


def commits_between(folder: Path, old: str, new: str) -> list[Commit]:
    """All commits that `new` has and `old` has not, the newest first.

    Raises:
        GitError: one of them is not in the repository.
    """
    form = f"{_SEPARATOR.join(_FIELDS)}{_END}"
    shown = run_git(folder, "log", f"--format={form}", f"{old}..{new}")
    return [_commit(each.lstrip("\n")) for each in shown.split(_END)[:-1]]


def _commit(shown: str) -> Commit:
    digits, author, time, subject, trailer = shown.split(_SEPARATOR)
    named = _MERGED.search(subject)
    number = next((group for group in named.groups() if group), "") if named else ""
    return Commit(digits, author, time, subject, trailer.strip() or number)


def source_of(project_root: Path) -> Source | None:
    """What the files of a project are; None where they are in no repository, or in an empty one."""
    try:
        run_git(project_root, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        return None
    changed = changed_files(project_root)
    digest = _digest(project_root, changed) if changed else ""
    return Source(commit_named(project_root, "HEAD"), changed, digest)


def _digest(project_root: Path, changed: tuple[str, ...]) -> str:
    top = Path(run_git(project_root, "rev-parse", "--show-toplevel"))
    digest = hashlib.sha256()
    for entry in changed:
        # Git names a new folder, not the files in it.
        for path in sorted((top / entry).rglob("*")) if entry.endswith("/") else [top / entry]:
            content = path.read_bytes() if path.is_file() else b""
            for part in (str(path.relative_to(top)).encode(), content):
                digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def changed_files(project_root: Path) -> tuple[str, ...]:
    """Files of the project that are not as committed, relative to the repository.

    A stack's file is as committed when the engine has only added the stack's salt to it, which it
    does when it makes one: no object depends on that.
    """
    said = run_git(project_root, "status", "--porcelain=v1", "-z", "--no-renames", "--", ".")
    changed = sorted(entry for entry in said.split("\0") if entry)
    return tuple(each[3:] for each in changed if not _is_salted_only(project_root, each))


def _is_salted_only(project_root: Path, entry: str) -> bool:
    status, file = entry[:2].strip(), entry[3:]
    if status != "M" or not _STACK_FILE.search(file):
        return False
    committed = _settings(run_git(project_root, "show", f"HEAD:{file}"), file)
    top = Path(run_git(project_root, "rev-parse", "--show-toplevel"))
    now = _settings((top / file).read_text(errors="replace"), file)
    added = {key: value for key, value in now.items() if key not in committed}
    return added.keys() == {_SALT} and {**committed, **added} == now


def _settings(text: str, file: str) -> dict[str, Any]:
    """What a stack's file says, whatever its layout; nothing when it is broken."""
    content = read_documents(text, file)
    values = [document.data for document in content.documents]
    is_one = not content.errors and len(values) == 1 and isinstance(values[0], dict)
    return values[0] if is_one else {}
