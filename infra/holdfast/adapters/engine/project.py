"""The three things that must be known of a Pulumi project before the engine is started.

Read line by line: `Pulumi.yaml` is the engine's file, which judges the rest of it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import InputError

PROJECT_FILE = "Pulumi.yaml"
_NAME = re.compile(r"^name:\s*[\"']?([A-Za-z0-9._-]+)", re.MULTILINE)
_VIRTUAL_ENVIRONMENT = re.compile(r"\bvirtualenv:\s*[\"']?([^\s\"',}#]+)")
_BACKEND = re.compile(r"^backend:\s*(?:\{\s*|\n\s+)url:\s*[\"']?([^\s\"',}#]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """A Pulumi project.

    Attributes:
        root: Folder of `Pulumi.yaml`.
        name: Its name, a part of every URN and of the paths in a backend.
        virtual_environment: Absolute path of the Python environment of the program, None when
            the project names none.
        backend_url: Where the project itself says its state is kept; empty when it does not.
    """

    root: Path
    name: str
    virtual_environment: Path | None = None
    backend_url: str = ""


def read_project(root: Path) -> Project:
    """Read the project in a folder.

    Raises:
        InputError: there is no readable `Pulumi.yaml`, or it has no name.
    """
    path = root / PROJECT_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read ({error})"
        raise InputError(message, remedy="run this inside a Holdfast project") from error
    name = _NAME.search(text)
    if name is None:
        message = f"{path}: expected a line 'name: <project>'"
        raise InputError(message, remedy="give the project its name")
    environment = _VIRTUAL_ENVIRONMENT.search(text)
    backend = _BACKEND.search(text)
    return Project(
        root=root.absolute(),
        name=name[1],
        virtual_environment=(root / environment[1]).absolute() if environment else None,
        backend_url=backend[1] if backend else "",
    )
