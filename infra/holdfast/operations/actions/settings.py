"""A field of an agent declared anew for one stack: tried in a copy, shown, written. Wiring."""

import difflib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.adapters.files.atomic_write import write_atomically
from holdfast.adapters.git.branch import commit_on_branch
from holdfast.errors import InputError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER, STACKS_FOLDER
from holdfast.manifest.stack.stack_files import NAMESPACE, read_stack_file
from holdfast.manifest.text.yaml_edit import UneditableError, with_edit
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.declared import plan_fleet


@dataclass(frozen=True)
class Declared:
    """A changed stack file, not written yet.

    Attributes:
        file: Relative to the project.
    """

    file: str
    before: str
    after: str

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty when it says nothing new."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.file}",
            f"b/{self.file}",
        )
        return "".join(lines)


def declare(
    root: Path,
    stack: str,
    agent: str,
    values: Sequence[tuple[Sequence[str], Any]],
) -> Declared:
    """Say something of an agent in the stack's file, where it overrides the agent's manifest.

    Args:
        root: Folder of Pulumi.yaml; it is not touched.
        stack: Name of the stack.
        agent: Name of the agent.
        values: Fields below `spec`, each with what it is to be.

    Raises:
        InputError: the file has no place for it.
        InvalidFilesError: the project would not be valid any more.
    """
    file = f"{STACKS_FOLDER}/Pulumi.{stack.rpartition('/')[2]}.yaml"
    before = (root / file).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="holdfast-declared-") as folder:
        copy = Path(folder)
        for name in (AGENTS_FOLDER, STACKS_FOLDER):
            shutil.copytree(root / name, copy / name)
        shutil.copy(root / PROJECT_FILE, copy)
        for path, value in values:
            _edit(copy, stack, (agent, *path), value)
        render_fleet(plan_fleet(load_fleet(copy, stack), stack))
        return Declared(file, before, (copy / file).read_text(encoding="utf-8"))


def _edit(
    copy: Path,
    stack: str,
    path: Sequence[str],
    value: Any,  # noqa: ANN401  (JSON)
) -> None:
    """Write one value below the overrides of agents, in a copy of the project."""
    file = f"{STACKS_FOLDER}/Pulumi.{stack.rpartition('/')[2]}.yaml"
    origin = read_stack_file(copy, stack).origin
    known = origin.child("agents")
    whole = tuple(path) if known else (f"{NAMESPACE}agents", *path)
    text = (copy / file).read_text(encoding="utf-8")
    try:
        after = with_edit(text, (known or origin).value_location, whole, value)
    except UneditableError as error:
        raise InputError(
            f"{file}: {NAMESPACE}agents.{'.'.join(path)} cannot be written ({error})",
            remedy="write it by hand",
        ) from error
    (copy / file).write_text(after, encoding="utf-8")


def write(root: Path, declared: Declared, branch: str | None, message: str) -> None:
    """Write the file, or commit it on a new branch.

    Raises:
        InputError: there is such a branch, or no repository.
    """
    if branch is None:
        write_atomically(root / declared.file, declared.after)
        click.echo(f"wrote {declared.file}: commit it, and run `holdfast up`", err=True)
        return
    commit = commit_on_branch(root, branch, {declared.file: declared.after}, message)
    click.echo(f"committed {commit[:12]} on branch {branch}", err=True)
