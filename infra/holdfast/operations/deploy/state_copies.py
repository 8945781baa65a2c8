"""A copy of the state from before an update and from after it, on this machine. Wiring."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.kept_states import KeptStates
from holdfast.errors import EngineError


@contextmanager
def kept_state(stack: Stack, identifier: str, tell: Callable[[str], None]) -> Iterator[None]:
    """Keep what an update finds and what it leaves, where the backend is no folder of this machine.

    An error in which the backend was lost says where the copy is.

    Args:
        stack: That is updated in the body.
        identifier: Of the update, by which a scan finds what it left.
        tell: Takes lines for people: a copy that could not be made fails no update.

    Raises:
        EngineError: the body's own.
    """
    if stack.files is not None:
        yield
        return
    before = _kept(stack, f"{identifier}-before", tell)
    try:
        yield
    except EngineError as error:
        if _kept(stack, identifier, _tell_nobody) is None and before is not None:
            _offer(error, stack, before)
        raise
    _kept(stack, identifier, tell)


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


def _tell_nobody(_: str) -> None:
    """The error that is on its way says it already."""


def _kept(stack: Stack, name: str, tell: Callable[[str], None]) -> Path | None:
    try:
        copies = KeptStates.of(stack.runner.project.name, stack.name)
        return copies.keep(name, stack.export_text())
    except EngineError as error:
        tell(f"note: no copy of the state is kept here: {error.message}")
        return None
