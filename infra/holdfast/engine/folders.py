"""Where Holdfast keeps what must outlive a clone: sandboxes and the default Pulumi backend."""

import os
from pathlib import Path


def state_directory() -> Path:
    """State of this machine's user: HOLDFAST_STATE, else `holdfast` in the XDG state folder."""
    if explicit := os.environ.get("HOLDFAST_STATE"):
        return Path(explicit).absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state").absolute() / "holdfast"
