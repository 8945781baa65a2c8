"""A stack in its backend: made if it is not there."""

from collections.abc import Iterator
from pathlib import Path

from holdfast.adapters.engine.stack import Stack
from holdfast.manifest.fleet.project_files import STACKS_FOLDER


def make_if_absent(stack: Stack, project_root: Path) -> Iterator[str]:
    """Make the stack in its backend if need be, and tell what was made and what is to be committed.

    Raises:
        EngineError: the backend cannot be read or written.
    """
    file = f"{STACKS_FOLDER}/Pulumi.{stack.name.rpartition('/')[2]}.yaml"
    before = (project_root / file).read_bytes()
    if not stack.init_if_absent():
        return
    yield f"made stack {stack.name}"
    if (project_root / file).read_bytes() != before:
        yield f"its salt is in its file now: git commit {file} -m 'Salt of stack {stack.name}'"
