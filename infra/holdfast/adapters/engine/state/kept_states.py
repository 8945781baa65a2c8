"""Copies of a stack's state on this machine, for a backend that is no folder of it.

Such a backend gives out its newest state alone, and nothing while it cannot be reached. A copy says
what a given update had left, and is there when the backend is not. Values that the program calls
secret stay encrypted in it, as the engine exports them.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.folders import state_directory
from holdfast.adapters.engine.state.checkpoint import Deployment, decode_export
from holdfast.adapters.files.atomic_write import PRIVATE_DIRECTORY_MODE, write_private_file
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
        """Keep one copy; for nobody else to read, and whole or not at all.

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
