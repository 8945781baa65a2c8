"""Where the project is that a verb works on."""

from pathlib import Path
from typing import Final

from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.errors import InputError

PACK_FOLDER: Final = "policy-pack"
"""Where a project keeps its policy pack."""


def find_project_root(start: Path | None = None) -> Path:
    """Nearest folder upward that holds a Pulumi.yaml.

    Raises:
        InputError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise InputError(
        f"no {PROJECT_FILE} here or above {here}", remedy="run this inside the project"
    )
