"""The state of a stack kept elsewhere while a new one is made."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.kept_states import KeptStates
from holdfast.errors import EngineError


@contextmanager
def backed_up_state(files: FileHistory) -> Iterator[tuple[Path, ...]]:
    """Give the files that hold a stack's state other names, and back when the body fails.

    Yields:
        What they are called from now on; empty when there are none.

    Raises:
        EngineError: the folder cannot be written.
    """
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    kept = {path: path.with_name(f"{path.name}.replaced-{moment}") for path in files.state_paths()}
    _rename(kept)
    try:
        yield tuple(kept.values())
    except BaseException:
        for path in files.state_paths():
            path.unlink()
        _rename({there: path for path, there in kept.items()})
        raise


@contextmanager
def emptied_state(stack: Stack) -> Iterator[Path | None]:
    """Empty the state of a stack whose backend is no folder here; it is put back if the body fails.

    Yields:
        The copy that is kept of it on this machine; None when the backend has no such stack.

    Raises:
        EngineError: it cannot be read, kept or written.
    """
    if stack.export_if_there() is None:
        yield None
        return
    before = stack.state()
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    copies = KeptStates.of(stack.runner.project.name, stack.name)
    kept = copies.keep(f"replaced-{moment}", msgspec.json.encode(before))
    deployment = {**before["deployment"], "resources": [], "pending_operations": []}
    stack.import_state({**before, "deployment": deployment})
    try:
        yield kept
    except BaseException:
        stack.import_state(before)
        raise


def restore(files: FileHistory, copy: Path) -> None:
    """Make an older copy of a checkpoint the state of the stack.

    Raises:
        EngineError: it cannot be copied.
    """
    compression = copy.name.removesuffix(".bak").rpartition(".json")[2]
    target = files.folder / "stacks" / files.project / f"{files.stack}.json{compression}"
    try:
        target.write_bytes(copy.read_bytes())
    except OSError as error:
        message = f"{copy} cannot be copied to {target} ({error.strerror})"
        raise EngineError(message, remedy=f"correct the rights of {target.parent}") from error


def _rename(names: dict[Path, Path]) -> None:
    for path, other in names.items():
        try:
            path.rename(other)
        except OSError as error:
            message = f"{path} cannot be renamed ({error.strerror})"
            raise EngineError(message, remedy=f"correct the rights of {path.parent}") from error
