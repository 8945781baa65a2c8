"""Where people say pause and go on to the loops of a stack. Wiring."""

from pathlib import Path

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.files import state_directory
from holdfast.adapters.journal.controls import controls_file


def controls_of(project_root: Path, stack: str) -> Path:
    """The file of a stack's controls on this machine."""
    return controls_file(state_directory(), read_project(project_root).name, stack)
