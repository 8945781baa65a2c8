"""The control group below which everything of a real node runs; both versions of cgroups.

The folders of a group outlive its processes: what stops a node removes them, too.
"""

import time
from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
REMOVE_SECONDS = 5.0
_POLL_SECONDS = 0.02
_COPIED = ("cpuset.cpus", "cpuset.mems")


def make_cgroups(name: str, root: Path = ROOT) -> None:
    """Make a group in every hierarchy, with the processors and memory nodes of the machine.

    Raises:
        OSError: the kernel refuses it.
    """
    for hierarchy in _hierarchies(root):
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        if is_version_2(root):
            continue
        # In version 1 a new group has no processors, and takes no process before it has some.
        for file in _COPIED:
            if (hierarchy / file).exists():
                (group / file).write_text((hierarchy / file).read_text())


def remove_cgroups(name: str, root: Path = ROOT, timeout_seconds: float = REMOVE_SECONDS) -> bool:
    """Remove a group with all below it; False when a process still lives in it after the time."""
    deadline = time.monotonic() + timeout_seconds
    groups = [hierarchy / name for hierarchy in _hierarchies(root)]
    while True:
        for group in groups:
            _remove(group)
        if not any(group.exists() for group in groups):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)


def is_version_2(root: Path = ROOT) -> bool:
    """Whether the machine has the one hierarchy of version 2."""
    return (root / "cgroup.controllers").exists()


def _hierarchies(root: Path) -> list[Path]:
    if is_version_2(root):
        return [root]
    # `cpu` and `cpuacct` may be two names of one folder.
    folders = {path.resolve() for path in root.iterdir() if (path / "cgroup.procs").exists()}
    return sorted(folders)


def _remove(group: Path) -> None:
    # The kernel removes a group's files with it; only empty groups below it stand in the way.
    folders = [path for path in group.rglob("*") if path.is_dir()] if group.exists() else []
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()
    with suppress(OSError):
        group.rmdir()
