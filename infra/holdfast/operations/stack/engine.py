"""A stack in its backend: created if it is not there, for good or for a preview alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.adapters.engine.stack import Stack
from holdfast.manifest.fleet.project_files import STACKS_FOLDER


def make_if_absent(stack: Stack, project_root: Path) -> Iterator[str]:
    """Create the stack in its backend if need be; says what was created and what to commit.

    Raises:
        EngineError: the backend cannot be read or written.
    """
    file = _stack_file(stack, project_root)
    before = file.read_bytes()
    if not stack.init_if_absent():
        return
    yield f"made stack {stack.name}"
    if file.read_bytes() != before:
        name = file.relative_to(project_root).as_posix()
        yield f"its salt is in its file now: git commit {name} -m 'Salt of stack {stack.name}'"


@contextmanager
def there_for_a_preview(stack: Stack, project_root: Path) -> Iterator[None]:
    """Let the engine preview a stack that its backend does not have; afterwards all is as before.

    Raises:
        EngineError: the backend cannot be read or written.
    """
    file = _stack_file(stack, project_root)
    before = file.read_bytes()
    is_new = stack.init_if_absent()
    try:
        yield
    finally:
        if is_new:
            stack.undo_init()
        if file.read_bytes() != before:
            file.write_bytes(before)


def _stack_file(stack: Stack, project_root: Path) -> Path:
    return project_root / STACKS_FOLDER / f"Pulumi.{stack.name.rpartition('/')[2]}.yaml"
