"""Where Holdfast keeps what must outlive a clone, and what may be thrown away at any time.

Alone in its module: every room asks for these folders, most of them for nothing else of this one.
"""

import os
from pathlib import Path


def state_directory() -> Path:
    """What must be kept: HOLDFAST_STATE, else `holdfast` in the XDG state folder."""
    if explicit := os.environ.get("HOLDFAST_STATE"):
        return Path(explicit).absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state").absolute() / "holdfast"


def cache_directory() -> Path:
    """What can be made again: HOLDFAST_CACHE, else `holdfast` in the XDG cache folder."""
    if explicit := os.environ.get("HOLDFAST_CACHE"):
        return Path(explicit).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "holdfast"
