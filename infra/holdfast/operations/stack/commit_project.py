"""The project at an earlier commit: its files, and the code of that same commit."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast import __version__
from holdfast.adapters.engine.project import PROJECT_FILE, read_project
from holdfast.adapters.git.repository import checked_out
from holdfast.errors import HoldfastError, InputError

_TIMEOUT_SECONDS = 600.0
_VERSION = re.compile(r"""^__version__ = ["'](\d+)\.""", re.MULTILINE)


@dataclass(frozen=True)
class CommitProject:
    """A project in a folder of its own, for as long as it is needed.

    Attributes:
        timeout_seconds: How long a verb that is run there may take.
    """

    root: Path
    timeout_seconds: float = _TIMEOUT_SECONDS

    @property
    def has_own_code(self) -> bool:
        """Whether the commit brings a Holdfast of its own, and is not rendered by ours."""
        return (self.root / "infra" / "holdfast").is_dir()

    @property
    def is_of_our_version(self) -> bool:
        """Whether our code understands the commit's files: the same major version wrote them."""
        if not self.has_own_code:
            return True
        try:
            text = (self.root / "infra" / "holdfast" / "__init__.py").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return False
        found = _VERSION.search(text)
        return found is not None and found[1] == __version__.partition(".")[0]

    def holdfast(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a verb there: what a commit renders is said by the renderer of that commit.

        Raises:
            HoldfastError: it does not end in time.
        """
        ours = {"PYTHONPATH": str(self.root / "infra")} if self.has_own_code else {}
        try:
            return subprocess.run(
                [sys.executable, "-m", "holdfast.cli.main", *arguments],
                cwd=self.root,
                env=os.environ | ours,
                capture_output=True,
                text=True,
                check=False,
                timeout=self.timeout_seconds,
            )
        except subprocess.TimeoutExpired as error:
            raise HoldfastError(
                f"`holdfast {arguments[0]}` of the commit did not end within "
                f"{self.timeout_seconds:g} s",
                remedy="check that its cluster and its backend are reachable",
            ) from error


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

    Raises:
        InputError: the project asks for one outside of its repository.
    """
    wanted = read_project(root).virtual_environment
    if wanted is None or wanted.exists():
        return
    checkout = next((each for each in (root, *root.parents) if (each / ".git").exists()), root)
    place = wanted.parent.resolve() / wanted.name
    if (
        not place.is_relative_to(checkout.resolve())
        or ".git" in place.parts[len(checkout.resolve().parts) :]
    ):
        raise InputError(
            f"{PROJECT_FILE}: the virtualenv {wanted} is outside of the repository",
            remedy="name a folder of the repository, such as .venv",
        )
    theirs = read_project(lender).virtual_environment if lender is not None else None
    given = theirs if theirs is not None and theirs.exists() else Path(sys.prefix)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(given.resolve())
