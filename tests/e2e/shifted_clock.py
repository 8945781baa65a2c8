"""A stack's record as an engine would have written it whose clock was off."""

import gzip
import re
from datetime import datetime, timedelta
from pathlib import Path

from holdfast.adapters.engine.backend.file_backend import FileHistory

_NANOSECONDS = 1_000_000_000
_IN_NAMES = re.compile(r"-(\d{19})\.(history|checkpoint)\.")
_IN_RECORDS = re.compile(r'("(?:startTime|endTime)":\s*)(\d+)')
# Not those of managed fields: the API server writes them, by its own clock.
_IN_CHECKPOINTS = re.compile(r'("(?:created|modified)":\s*")([^"]+)"')


def shift(files: FileHistory, by: timedelta) -> None:
    """Move every time that the engine wrote into a stack's state and history."""
    paths = [*files.state_paths(), *files.records_folder.iterdir()]
    for path in paths:
        if path.name.endswith(".attrs"):
            path.unlink()
            continue
        _rewrite(path, by)
        moved = _IN_NAMES.sub(
            lambda found: f"-{int(found[1]) + _nanoseconds(by)}.{found[2]}.", path.name
        )
        path.rename(path.with_name(moved))


def _rewrite(path: Path, by: timedelta) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    text = _IN_RECORDS.sub(
        lambda found: f"{found[1]}{int(found[2]) + int(by.total_seconds())}", text
    )
    text = _IN_CHECKPOINTS.sub(lambda found: f'{found[1]}{_moved(found[2], by)}"', text)
    path.write_bytes(gzip.compress(text.encode()))


def _moved(timestamp: str, by: timedelta) -> str:
    return (datetime.fromisoformat(timestamp) + by).isoformat().replace("+00:00", "Z")


def _nanoseconds(by: timedelta) -> int:
    return int(by.total_seconds()) * _NANOSECONDS
