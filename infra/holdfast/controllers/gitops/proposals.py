"""Branches on which a loop proposes what it has adopted: pushed once, when they are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.git.repository import GitError, run_git

_BRANCHES = "refs/heads/adopt-*"


@dataclass(frozen=True)
class ProposalBranches:
    """The proposals in the clone of a loop.

    Attributes:
        root: Any folder of the clone.
    """

    root: Path

    def commits(self) -> dict[str, str]:
        """Branch to its commit, as they are now."""
        shown = run_git(
            self.root, "for-each-ref", "--format=%(refname:short) %(objectname)", _BRANCHES
        )
        return dict(line.split() for line in shown.splitlines())

    def push_since(self, before: Mapping[str, str]) -> list[str]:
        """Push the branches that were made since; gives their names.

        One that was pushed earlier is left alone: it may have been merged, or declined, and deleted
        since. One that cannot be pushed is removed, so that the next proposal makes it again.

        Raises:
            GitError: the repository refuses, or cannot be reached.
        """
        made = [name for name, commit in self.commits().items() if before.get(name) != commit]
        if not made:
            return []
        refs = [f"refs/heads/{name}:refs/heads/{name}" for name in made]
        try:
            run_git(self.root, "push", "--quiet", "origin", *refs)
        except GitError:
            run_git(self.root, "branch", "--quiet", "-D", *made)
            raise
        return made
