"""What a program's files are: told by `holdfast up`, else found out. Wiring."""

import os
from pathlib import Path

from holdfast.adapters.git.source import source_of
from holdfast.errors import HoldfastError

COMMIT_VARIABLE = "HOLDFAST_COMMIT"
DIRTY_VARIABLE = "HOLDFAST_DIRTY"


def commit_in_words(commit: str, *, is_dirty: bool) -> str:
    """A commit as `git describe --dirty` would end it; empty where there is none."""
    return f"{commit}-dirty" if commit and is_dirty else commit


def provenance(project_root: Path) -> tuple[str, bool]:
    """The commit of a project's files (empty without one), and whether they differ from it.

    Whoever runs the engine may have looked before it wrote to the stack's file, as it does for a
    new stack: their word holds.
    """
    if COMMIT_VARIABLE in os.environ:
        return os.environ[COMMIT_VARIABLE], os.environ.get(DIRTY_VARIABLE) == "true"
    try:
        source = source_of(project_root)
    except HoldfastError:
        # A program runs without Git, too: then nobody knows.
        source = None
    return (source.commit.name, source.is_dirty) if source else ("", True)
