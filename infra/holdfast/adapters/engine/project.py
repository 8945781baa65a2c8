"""The three things that must be known of a Pulumi project before the engine is started."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import InputError
from holdfast.manifest.stack.names import PROJECT_FILE

__all__ = ["PROJECT_FILE", "Project", "read_project"]


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

    @property
    def python(self) -> Path:
        """The interpreter of program and pack: of the project's environment, else ours."""
        environment = self.virtual_environment
        return environment / "bin" / "python" if environment else Path(sys.executable)


def read_project(root: Path) -> Project:
    """Read the project in a folder; the engine judges the rest of the file.

    Raises:
        InputError: there is no readable `Pulumi.yaml`, or it has no name.
    """
    path = root / PROJECT_FILE
    settings = _settings(path)
    name = settings.get("name")
    if not isinstance(name, str) or not name:
        message = f"{path}: expected a line 'name: <project>'"
        raise InputError(message, remedy="give the project its name")
    environment = _text_at(settings, "runtime", "options", "virtualenv")
    return Project(
        root=root.absolute(),
        name=name,
        virtual_environment=(root / environment).absolute() if environment else None,
        backend_url=_text_at(settings, "backend", "url"),
    )


def _settings(path: Path) -> dict[str, Any]:
    # Loaded here: most commands start without a project, and the YAML library takes 17 ms.
    from holdfast.manifest.text.documents import read_documents  # noqa: PLC0415  (see above)

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read ({error})"
        raise InputError(message, remedy="run this inside a Holdfast project") from error
    content = read_documents(text, str(path))
    if not content.documents:
        reason = str(content.errors[0]) if content.errors else f"{path} is empty"
        raise InputError(reason, remedy="correct the project file")
    settings = content.documents[0].data
    return settings if isinstance(settings, dict) else {}


def _text_at(settings: dict[str, Any], *keys: str) -> str:
    """The text at a path of keys; empty where there is none."""
    value: Any = settings
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
