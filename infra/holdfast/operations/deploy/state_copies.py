"""A copy of the state from before an update and from after it, on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.state_backup import KeptStates
from holdfast.errors import EngineError
from holdfast.operations.progress import SILENT, Progress


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
        f"should the state be lost, 'pulumi stack import -s {stack.name} --file {copy}' puts back "
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
