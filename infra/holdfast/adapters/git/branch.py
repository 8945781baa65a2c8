"""A commit on a new branch, made beside the working tree: nothing open is touched."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.adapters.git.command import GitError, run_git
from holdfast.errors import InputError


def require_new_branch(root: Path, branch: str, files: Iterable[str]) -> None:
    """Ask everything that a commit of these files on a new branch can be refused for.

    Args:
        root: Any folder of the repository.
        branch: Its name; must not exist.
        files: Relative to `root`; they must be as in the last commit.

    Raises:
        InputError: no repository, no such name for a branch, one that exists, or a changed file.
        GitError: Git refused.
    """
    _asked(root, "rev-parse", "--show-toplevel")
    _asked(root, "check-ref-format", "--branch", branch)
    if is_branch(root, branch):
        raise InputError(f"branch {branch} exists already", remedy="name another one")
    names = sorted(files)
    if run_git(root, "status", "--porcelain", "--", *names):
        raise InputError(
            f"{', '.join(names)}: changed since the last commit",
            remedy="commit or stash it first: the branch begins at HEAD",
        )


def commit_on_branch(root: Path, branch: str, files: Mapping[str, str], message: str) -> str:
    """Commit the files' new texts on a new branch that begins at HEAD.

    Args:
        root: Any folder of the repository.
        branch: Its name; must not exist.
        files: File, relative to `root`, to its whole new text.
        message: Of the commit.

    Returns:
        The commit.

    Raises:
        InputError: no repository, no such name for a branch, or one that exists.
        GitError: Git refused.
    """
    require_new_branch(root, branch, files)
    top = Path(run_git(root, "rev-parse", "--show-toplevel"))
    with tempfile.TemporaryDirectory(prefix="holdfast-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        run_git(root, "read-tree", "HEAD", variables=index)
        for file, text in files.items():
            blob = run_git(root, "hash-object", "-w", "--stdin", text=text)
            name = (root / file).resolve().relative_to(top.resolve()).as_posix()
            run_git(root, "update-index", "--cacheinfo", f"100644,{blob},{name}", variables=index)
        tree = run_git(root, "write-tree", variables=index)
    commit = run_git(root, "commit-tree", tree, "-p", "HEAD", "-m", message)
    run_git(root, "update-ref", f"refs/heads/{branch}", commit, "")
    return commit


def is_branch(root: Path, branch: str) -> bool:
    """Whether the repository has a branch of that name."""
    return bool(run_git(root, "for-each-ref", f"refs/heads/{branch}"))


def _asked(root: Path, *arguments: str) -> str:
    """What Git says of the user's own words: its refusal is bad input."""
    try:
        return run_git(root, *arguments)
    except GitError as error:
        said = error.message.removeprefix(f"git {arguments[0]} failed: ")
        raise InputError(f"--branch: {said}", remedy="name one inside a Git repository") from error
