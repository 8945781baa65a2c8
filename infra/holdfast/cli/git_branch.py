"""A commit on a new branch, made beside the working tree: nothing open is touched. Wiring."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from holdfast.errors import HoldfastError, InputError


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
        HoldfastError: git refused.
    """
    top = Path(_git(root, "rev-parse", "--show-toplevel"))
    _git(root, "check-ref-format", "--branch", branch)
    if is_branch(root, branch):
        raise InputError(f"branch {branch} exists already", remedy="name another one")
    changed = _git(root, "status", "--porcelain", "--", *files)
    if changed:
        raise InputError(
            f"{', '.join(sorted(files))}: changed since the last commit",
            remedy="commit or stash it first: the branch begins at HEAD",
        )
    with tempfile.TemporaryDirectory(prefix="holdfast-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _git(root, "read-tree", "HEAD", variables=index)
        for file, text in files.items():
            blob = _git(root, "hash-object", "-w", "--stdin", text=text)
            name = (root / file).resolve().relative_to(top.resolve()).as_posix()
            _git(root, "update-index", "--cacheinfo", f"100644,{blob},{name}", variables=index)
        tree = _git(root, "write-tree", variables=index)
    commit = _git(root, "commit-tree", tree, "-p", "HEAD", "-m", message)
    _git(root, "update-ref", f"refs/heads/{branch}", commit, "")
    return commit


def is_branch(root: Path, branch: str) -> bool:
    """Whether the repository has a branch of that name."""
    command = ["git", "show-ref", "--quiet", "--verify", f"refs/heads/{branch}"]
    return subprocess.run(command, cwd=root, check=False).returncode == 0


def _git(
    root: Path, *arguments: str, text: str = "", variables: Mapping[str, str] | None = None
) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=root,
            input=text,
            env=os.environ | dict(variables or {}),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise InputError("--branch needs git", remedy="install it, or use --write") from error
    if done.returncode:
        said = done.stderr.strip().removeprefix("fatal: ")
        if arguments[0] in {"rev-parse", "check-ref-format"}:
            raise InputError(f"--branch: {said}", remedy="run it inside a git repository")
        raise HoldfastError(f"git {arguments[0]} failed: {said}")
    return done.stdout.strip()
