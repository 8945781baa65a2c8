"""Where the project is that a verb works on."""

from pathlib import Path

from holdfast.errors import InputError

PROJECT_FILE = "Pulumi.yaml"


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
