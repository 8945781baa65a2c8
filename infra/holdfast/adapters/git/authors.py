"""Who wrote the lines of a file, as Git knows it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from holdfast.adapters.git.repository import GitError, run_git
from holdfast.errors import InputError

_HEADER: Final = re.compile(r"[0-9a-f]{40,64} \d+ \d+( \d+)?")
_UNCOMMITTED: Final = "0" * 40


@dataclass(frozen=True, slots=True)
class Author:
    """Who has written a line.

    Attributes:
        name: As in the commit; of a line that is not committed yet, Git's user here.
        email: Address, without brackets.
        commit: The commit, abbreviated; empty for a line that is not committed yet.
        day: Day of the commit in UTC, `2026-03-31`; empty as well.
    """

    name: str
    email: str
    commit: str = ""
    day: str = ""

    def __str__(self) -> str:
        where = f" in {self.commit}" if self.commit else ", not committed yet"
        return f"{self.name} <{self.email}>{where}"


def authors_of_lines(root: Path, file: str, first: int, last: int) -> tuple[Author, ...] | None:
    """Authors of some lines of a file.

    Args:
        root: A folder of the working tree.
        file: Relative to the folder.
        first: First line, counted from 1.
        last: Last line.

    Returns:
        Each author once; None where Git does not know: no repository, no such lines, no user for
        lines that are not committed, or a history that was cut off before they were written.
    """
    try:
        said = run_git(root, "blame", "--porcelain", "-L", f"{first},{last}", "--", file)
        here = Author(_config(root, "user.name"), _config(root, "user.email"))
    except (GitError, InputError):
        return None
    found: dict[Author, None] = {}
    known: dict[str, dict[str, str]] = {}
    commit = ""
    for line in said.splitlines():
        if _HEADER.fullmatch(line):
            commit = line.split(" ", 1)[0]
            known.setdefault(commit, {})
        elif line.startswith("\t"):
            facts = known[commit]
            is_new = commit.startswith(_UNCOMMITTED)
            if ("boundary" in facts and _is_shallow(root)) or (is_new and not here.email):
                return None
            day = datetime.fromtimestamp(int(facts["author-time"]), UTC).date().isoformat()
            author = Author(facts["author"], facts["author-mail"].strip("<>"), commit[:8], day)
            found[here if is_new else author] = None
        else:
            name, _, value = line.partition(" ")
            known[commit].setdefault(name, value)
    return tuple(found) or None


def _is_shallow(root: Path) -> bool:
    return run_git(root, "rev-parse", "--is-shallow-repository").strip() == "true"


def _config(root: Path, name: str) -> str:
    try:
        return run_git(root, "config", "--get", name).strip()
    except GitError:
        return ""
