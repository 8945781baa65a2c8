"""What people tell a running loop: pause, go on, fights are over. A file, read at every turn."""

from pathlib import Path

import msgspec

from holdfast.adapters.files import write_private_file
from holdfast.adapters.journal.journal import DIRECTORY_MODE, JournalKind, journal_file
from holdfast.errors import HoldfastError


class LoopControls(msgspec.Struct, rename="camel", frozen=True):
    """What was said last.

    Attributes:
        paused_by: Who has paused the loop; empty while it may act.
        paused_at: When, RFC 3339.
        reason: Why.
        fights_closed_seconds: When all fights were last said to be over, in seconds since 1970.
    """

    paused_by: str = ""
    paused_at: str = ""
    reason: str = ""
    fights_closed_seconds: float = 0.0


def controls_file(state_folder: Path, project: str, stack: str) -> Path:
    """Where the loops of a stack on this machine look."""
    return journal_file(state_folder, project, stack, JournalKind.CONTROLS)


def read_controls(file: Path) -> LoopControls:
    """What was said last; nothing was, when there is no file.

    Raises:
        HoldfastError: the file cannot be read: whether the loop may act is not known.
    """
    try:
        return msgspec.json.decode(file.read_bytes(), type=LoopControls)
    except FileNotFoundError:
        return LoopControls()
    except (OSError, msgspec.DecodeError) as error:
        raise HoldfastError(
            f"{file} cannot be read ({error})", remedy="remove it to let the loop go on"
        ) from error


def write_controls(file: Path, controls: LoopControls) -> None:
    """Say something; whole or not at all.

    Raises:
        HoldfastError: the file cannot be written.
    """
    try:
        file.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        write_private_file(file, msgspec.json.encode(controls))
    except OSError as error:
        raise HoldfastError(f"{file} cannot be written ({error.strerror})") from error
