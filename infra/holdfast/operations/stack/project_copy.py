"""A copy of a project in which an edit of its files is tried, and the edit as a change to write.

The project itself is not touched until the change is written: to its files, or as a commit on a new
branch.
"""

import difflib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.adapters.files import write_atomically
from holdfast.adapters.git.repository import commit_on_branch, require_new_branch
from holdfast.errors import InputError, SourceLocation
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER, STACKS_FOLDER
from holdfast.manifest.text.yaml_edit import with_edit
from holdfast.operations.progress import Progress
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.planning import plan_fleet


@dataclass(frozen=True)
class FileChange:
    """Text of one file before and after an edit."""

    before: str
    after: str


@dataclass(frozen=True)
class ProjectChange:
    """Changed files of a project.

    Attributes:
        files: File, relative to the project, to its change; only files whose text differs.
    """

    files: Mapping[str, FileChange] = field(default_factory=dict)

    @property
    def diff(self) -> str:
        """All changes as one unified diff, as `git apply` takes it; empty when nothing changes."""
        return "".join(
            line
            for file, change in sorted(self.files.items())
            for line in difflib.unified_diff(
                change.before.splitlines(keepends=True),
                change.after.splitlines(keepends=True),
                f"a/{file}",
                f"b/{file}",
            )
        )

    @property
    def texts(self) -> dict[str, str]:
        """File to its whole new text."""
        return {file: change.after for file, change in self.files.items()}

    def require_writable(self, root: Path, branch: str | None) -> None:
        """Ask everything that `write` can refuse, and write nothing.

        Args:
            root: Folder of the project.
            branch: New branch that the change is to be committed on; None for the files themselves.

        Raises:
            InputError: there is no repository, the branch exists, or a file was changed since the
                last commit or since the copy was made.
        """
        if not self.files:
            return
        for file, change in self.files.items():
            if (root / file).read_text(encoding="utf-8") != change.before:
                raise InputError(f"{file} has changed since it was read", remedy="run this again")
        if branch is not None:
            require_new_branch(root, branch, self.files)

    def write(self, root: Path, branch: str | None, message: str, progress: Progress) -> None:
        """Write the files, or commit them on a new branch.

        Args:
            root: Folder of the project.
            branch: Name of the new branch; None for the files themselves.
            message: Of the commit.
            progress: Learns what was written.

        Raises:
            InputError: as of `require_writable`, or a file cannot be written.
        """
        self.require_writable(root, branch)
        if branch is not None and self.files:
            commit = commit_on_branch(root, branch, self.texts, message)
            progress.step(f"committed {commit[:12]} on branch {branch}")
            return
        for file, text in sorted(self.texts.items()):
            try:
                write_atomically(root / file, text)
            except OSError as error:
                raise InputError(
                    f"{file} cannot be written ({error.strerror})", remedy="correct its permissions"
                ) from error
            progress.step(f"wrote {file}")


@dataclass(frozen=True)
class ProjectCopy:
    """A copy of what a project declares.

    Attributes:
        original: Folder of the project.
        root: Folder of the copy.
        stack: Stack that it is loaded and rendered for.
    """

    original: Path
    root: Path
    stack: str

    @classmethod
    @contextmanager
    def of(cls, project_root: Path, stack: str) -> Iterator["ProjectCopy"]:
        """Copy manifests, stack files and project file; the copy goes with the context."""
        with tempfile.TemporaryDirectory(prefix="holdfast-copy-") as folder:
            copy = Path(folder)
            for name in (AGENTS_FOLDER, STACKS_FOLDER):
                shutil.copytree(project_root / name, copy / name)
            shutil.copy(project_root / PROJECT_FILE, copy)
            yield cls(project_root, copy, stack)

    def edit(
        self,
        location: SourceLocation,
        path: Sequence[str | int],
        value: Any,  # noqa: ANN401  (JSON)
    ) -> None:
        """Write one value into a YAML or JSON file of the copy.

        Args:
            location: Of the mapping that the path starts from; its file is relative to the project.
            path: Keys from there.
            value: New value; `yaml_edit.REMOVE` takes the field out.

        Raises:
            UneditableError: the text has no place for it.
        """
        file = self.root / location.file
        text = file.read_text(encoding="utf-8")
        file.write_text(with_edit(text, location, tuple(path), value), encoding="utf-8")

    def fleet(self) -> Fleet:
        """What the copy declares now.

        Raises:
            InvalidFilesError: it is not valid any more.
        """
        return load_fleet(self.root, self.stack)

    def rendered(self) -> tuple[RenderedObject, ...]:
        """What the copy renders to now.

        Raises:
            InvalidFilesError: it is not valid any more.
            RenderError: it cannot be rendered.
        """
        return render_fleet(plan_fleet(self.fleet(), self.stack))

    def change(self) -> ProjectChange:
        """Every file whose text differs from the project's."""
        changes = {}
        for file in sorted(each for each in self.root.rglob("*") if each.is_file()):
            name = file.relative_to(self.root).as_posix()
            before = (self.original / name).read_bytes()
            after = file.read_bytes()
            if before != after:
                changes[name] = FileChange(before.decode("utf-8"), after.decode("utf-8"))
        return ProjectChange(changes)
