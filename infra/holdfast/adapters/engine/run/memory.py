"""Whether a stack fits into the memory that the engine may use: said before, not by a killed run.

A run that the kernel kills for want of memory leaves a lock, pending operations and no reason.
"""

import os
from pathlib import Path
from typing import Final

from holdfast.errors import InputError
from holdfast.kube.scalars import parse_quantity

LIMIT_VARIABLE: Final = "HOLDFAST_MEMORY_LIMIT"
BYTES_PER_RESOURCE: Final = 157 * 1024
"""Of engine, provider and program together, at ten thousand resources."""

_MIB: Final = 1 << 20
_CGROUP_FILES: Final = ("memory.max", "memory/memory.limit_in_bytes", "memory.limit_in_bytes")


def refuse_too_large(stack: str, resources: int, limit_bytes: int) -> None:
    """Refuse a stack whose update would not fit into memory.

    Args:
        stack: Its name.
        resources: How many objects it declares.
        limit_bytes: What may be used.

    Raises:
        InputError: it does not fit.
    """
    needed = resources * BYTES_PER_RESOURCE
    if needed > limit_bytes:
        raise InputError(
            f"stack {stack} declares {resources} objects: the engine needs about "
            f"{needed // _MIB} MiB of memory for them, and may use {limit_bytes // _MIB} MiB",
            remedy="split the stack, let the operator apply its objects (holdfast:agentResources: "
            f"{{mode: expand}}), or allow more; {LIMIT_VARIABLE} says otherwise",
        )


def memory_limit_bytes(root: Path = Path("/")) -> int:
    """What a run may use: as the environment says, the group's limit, or all of the machine's.

    Args:
        root: Where `proc` and `sys` are.

    Raises:
        InputError: the environment says what is no quantity.
    """
    if said := os.environ.get(LIMIT_VARIABLE):
        try:
            return int(parse_quantity(said))
        except ValueError as error:
            raise InputError(
                f"{LIMIT_VARIABLE}: expected a quantity of memory, got {said!r}",
                remedy="such as 2Gi",
            ) from error
    return min([_machine_bytes(root), *_group_limits(root)])


def _machine_bytes(root: Path) -> int:
    try:
        lines = (root / "proc" / "meminfo").read_text().splitlines()
    except OSError:
        return 1 << 62  # a system that does not say
    found = [line.split() for line in lines if line.startswith("MemTotal:")]
    return int(found[0][1]) * 1024 if found else 1 << 62


def _group_limits(root: Path) -> list[int]:
    """Limits of the control group that we run in and of those around it, versions 1 and 2."""
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    top = root / "sys" / "fs" / "cgroup"
    folders = {top}
    for line in lines:
        *_, controllers, path = line.split(":", 2)
        base = top / "memory" if "memory" in controllers else top
        group = base / path.strip("/")
        folders |= {folder for folder in (group, *group.parents) if folder.is_relative_to(top)}
    texts = [_text(folder / name) for folder in folders for name in _CGROUP_FILES]
    return [int(text) for text in texts if text.isdigit()]


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
