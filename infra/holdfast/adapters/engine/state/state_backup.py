"""Copies of a stack's state, and the state moved away while a new one is made.

A backend that is no folder returns its newest state only, and nothing while it cannot be reached. A
copy on this machine holds what a given update left. Values that the program calls secret stay
encrypted in it, as the engine exports them.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.checkpoint import Deployment, decode_export
from holdfast.adapters.files import PRIVATE_DIRECTORY_MODE, state_directory, write_private_file
from holdfast.errors import EngineError

MOST_KEPT = 10
"""Copies of one stack; the oldest go first."""

_SUFFIX = ".json"


@dataclass(frozen=True)
class KeptStates:
    """The copies of one stack, each a file that `pulumi stack import --file` takes."""

    folder: Path

    @classmethod
    def of(cls, project: str, stack: str) -> "KeptStates":
        """The copies of a stack; its name may be a full one."""
        return cls(state_directory() / "kept-states" / project / stack.rpartition("/")[2])

    def keep(self, name: str, text: bytes) -> Path:
        """Keep one copy; readable by its owner only, and whole or not at all.

        Raises:
            EngineError: it cannot be written.
        """
        path = self.folder / f"{name}{_SUFFIX}"
        try:
            self.folder.mkdir(mode=PRIVATE_DIRECTORY_MODE, parents=True, exist_ok=True)
            write_private_file(path, text)
        except OSError as error:
            message = f"no copy of the state could be kept in {self.folder} ({error.strerror})"
            raise EngineError(
                message, remedy="free some space, or set HOLDFAST_STATE to another folder"
            ) from error
        for old in self.newest_first()[MOST_KEPT:]:
            with suppress(FileNotFoundError):
                old.unlink()
        return path

    def newest_first(self) -> list[Path]:
        """Every copy, the one that was written last first."""
        written = [(path.stat().st_mtime_ns, path) for path in self.folder.glob(f"[!.]*{_SUFFIX}")]
        return [path for _, path in sorted(written, reverse=True)]

    def deployment(self, name: str) -> Deployment | None:
        """What a copy holds; None when there is none that can be read."""
        path = self.folder / f"{name}{_SUFFIX}"
        try:
            return decode_export(path.read_bytes(), place=str(path))
        except (OSError, EngineError):
            return None


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
    """Empty the state of a stack whose backend is no folder here; it is restored if the body fails.

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
