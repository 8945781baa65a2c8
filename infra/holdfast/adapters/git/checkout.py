"""A commit in a folder of its own, for as long as it is needed: the working tree is not touched."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.adapters.git.command import run_git


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
