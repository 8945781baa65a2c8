"""Git commands: in a repository, in a checkout apart from the working tree, on a new branch."""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from holdfast.errors import HoldfastError, InputError

_NEVER_ASK = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
# Set by a hook that calls us, these would point every run at the hook's own repository.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class GitError(HoldfastError):
    """Git refused, or did not end in time."""


def run_git(
    folder: Path,
    *arguments: str,
    text: str = "",
    variables: Mapping[str, str] | None = None,
    timeout_seconds: float = 120.0,
) -> str:
    """Run one command; returns what it printed, without the last line end.

    It never asks for a password: what needs one fails.

    Args:
        folder: Working directory.
        arguments: Of `git`.
        text: Its standard input.
        variables: Over the ambient environment.
        timeout_seconds: When to give up.

    Raises:
        InputError: there is no `git`.
        GitError: it failed.
    """
    ambient = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            input=text,
            env=ambient | _NEVER_ASK | dict(variables or {}),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout_seconds,
        )
    except FileNotFoundError as error:
        raise InputError("git was not found", remedy="install it") from error
    except subprocess.TimeoutExpired as error:
        message = f"git {arguments[0]} did not end within {timeout_seconds:g} s"
        raise GitError(message, remedy="see whether the repository can be reached") from error
    if done.returncode:
        said = " ".join(done.stderr.split()).removeprefix("fatal: ").removeprefix("error: ")
        raise GitError(f"git {arguments[0]} failed: {said or f'exit code {done.returncode}'}")
    return done.stdout.removesuffix("\n")


@contextmanager
def checked_out(project_root: Path, commit: str) -> Iterator[Path]:
    """Check a commit out beside the working tree; gives the project's folder in it.

    Args:
        project_root: Folder of Pulumi.yaml, anywhere in the repository.
        commit: Its full name.

    Raises:
        GitError: Git refused.
    """
    top = Path(run_git(project_root, "rev-parse", "--show-toplevel")).resolve()
    below = project_root.resolve().relative_to(top)
    # A killed run leaves a note of its folder; the folder itself went with the machine's own.
    run_git(project_root, "worktree", "prune")
    with tempfile.TemporaryDirectory(prefix="holdfast-commit-") as scratch:
        folder = Path(scratch).resolve() / top.name
        run_git(project_root, "worktree", "add", "--quiet", "--detach", str(folder), commit)
        try:
            yield folder / below
        finally:
            run_git(project_root, "worktree", "remove", "--force", "--force", str(folder))


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
