"""The project at an earlier commit: its files, run by the code of that same commit. Wiring."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.git.checkout import checked_out

_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True)
class CommitProject:
    """A project in a folder of its own, for as long as it is needed."""

    root: Path

    def holdfast(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a verb there: what a commit renders is said by the renderer of that commit."""
        program = self.root / "infra"
        ours = {"PYTHONPATH": str(program)} if (program / "holdfast").is_dir() else {}
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *arguments],
            cwd=self.root,
            env=os.environ | ours,
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
        )


@contextmanager
def project_at(project_root: Path, commit: str) -> Iterator[CommitProject]:
    """The project as a commit has it.

    Args:
        project_root: Folder of Pulumi.yaml in the working tree, which is not touched.
        commit: Its full name.

    Raises:
        InputError: the commit has no project there.
        GitError: Git refused.
    """
    with checked_out(project_root, commit) as root:
        lend_environment(project_root, root)
        yield CommitProject(root)


def lend_environment(lender: Path | None, root: Path) -> None:
    """Give a fresh checkout the virtual environment that its program asks for.

    Args:
        lender: Folder of a project that has one; None for the environment that we run in.
        root: Folder of the checkout's Pulumi.yaml.
    """
    wanted = read_project(root).virtual_environment
    if wanted is None or wanted.exists():
        return
    theirs = read_project(lender).virtual_environment if lender is not None else None
    given = theirs if theirs is not None and theirs.exists() else Path(sys.prefix)
    wanted.parent.mkdir(parents=True, exist_ok=True)
    wanted.symlink_to(given.resolve())
