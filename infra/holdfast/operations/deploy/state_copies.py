"""A stack in its backend: created where it is absent, and its state copied around an update."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.state_backup import KeptStates
from holdfast.errors import EngineError
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.operations.progress import SILENT, Progress


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


@contextmanager
def backed_up(stack: Stack, identifier: str, progress: Progress) -> Iterator[None]:
    """Keep what an update finds and what it leaves, where the backend is no folder of this machine.

    An error in which the backend was lost says where the copy is.

    Args:
        stack: That is updated in the body.
        identifier: Of the update, by which a scan finds what it left.
        progress: Takes notes: a copy that could not be made fails no update.

    Raises:
        EngineError: the body's own.
    """
    if stack.files is not None:
        yield
        return
    before = _kept(stack, f"{identifier}-before", progress)
    try:
        yield
    except EngineError as error:
        if _kept(stack, identifier, SILENT) is None and before is not None:
            _offer(error, stack, before)
        raise
    _kept(stack, identifier, progress)


def offer_copy(error: EngineError, stack: Stack) -> None:
    """Let an error about a state that cannot be read say where the newest copy of it is."""
    copies = KeptStates.of(stack.runner.project.name, stack.name).newest_first()
    if copies:
        _offer(error, stack, copies[0])


def _offer(error: EngineError, stack: Stack, copy: Path) -> None:
    offer = (
        f"should the state be lost, 'pulumi stack import -s {stack.name} --file {copy}' restores "
        "the copy kept here"
    )
    error.remedy = "; ".join(part for part in (error.remedy, offer) if part)


def _kept(stack: Stack, name: str, progress: Progress) -> Path | None:
    try:
        copies = KeptStates.of(stack.runner.project.name, stack.name)
        return copies.keep(name, stack.export_text())
    except EngineError as error:
        progress.note(f"note: no copy of the state is kept here: {error.message}")
        return None
