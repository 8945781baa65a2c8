"""Where the programs are: `pulumi`, its plugins and the parts of a control plane.

Looked for in the folder that HOLDFAST_TOOLCHAIN names, in the toolchain built from the project's
pins, then on PATH. Definitions of custom resources lie in a folder of their own. Nothing is built
or downloaded here; the remedy of every error says what to run.
"""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from holdfast.errors import ToolchainError

FOLDER_VARIABLE = "HOLDFAST_TOOLCHAIN"
DEFINITIONS_VARIABLE = "HOLDFAST_DEFINITIONS"
_BUILD_SCRIPT = Path("toolchain") / "build.py"
_DEFINITIONS_SCRIPT = Path("toolchain") / "definitions.py"
_PRINT_TIMEOUT_SECONDS = 30


def find_program(name: str) -> Path:
    """Find one program by its file name, such as `kube-apiserver`.

    A folder named by HOLDFAST_TOOLCHAIN must hold the program: someone who names a folder does
    not want another version from PATH instead.

    Returns:
        Absolute path of an executable file.

    Raises:
        ToolchainError: the program is nowhere to be found.
    """
    if explicit := os.environ.get(FOLDER_VARIABLE):
        if program := _executable_in(Path(explicit), name):
            return program
        message = f"{name} was not found in {FOLDER_VARIABLE}={explicit}"
        raise ToolchainError(message, remedy=f"correct or unset {FOLDER_VARIABLE}")
    folder = built_folder()
    if folder is not None and (program := _executable_in(folder, name)):
        return program
    if on_path := shutil.which(name):
        return Path(on_path).resolve()
    where = f"in the built toolchain {folder} or on PATH" if folder else "on PATH"
    message = f"{name} was not found {where}"
    raise ToolchainError(
        message,
        remedy=f"run 'make toolchain', or set {FOLDER_VARIABLE} to a folder that holds it",
    )


def built_folder() -> Path | None:
    """The folder of the project's finished toolchain, None when there is none (yet)."""
    folder = _folder_of(_BUILD_SCRIPT)
    return folder if folder is not None and (folder / "complete").exists() else None


def find_definitions(controller: str) -> tuple[Path, ...]:
    """The definitions of one controller's custom resources, `<definition>.yaml` each, by name.

    Raises:
        ToolchainError: they are nowhere to be found.
    """
    if explicit := os.environ.get(DEFINITIONS_VARIABLE):
        folder, remedy = Path(explicit), f"correct or unset {DEFINITIONS_VARIABLE}"
    else:
        script_folder = _folder_of(_DEFINITIONS_SCRIPT)
        folder = script_folder or Path.cwd()
        remedy = (
            "run 'make definitions'"
            if script_folder
            else f"set {DEFINITIONS_VARIABLE} to a folder that holds them, or work in a clone of "
            "the project"
        )
    if found := sorted((folder / controller).glob("*.yaml")):
        return tuple(found)
    message = f"no definitions of {controller} were found in {folder}"
    raise ToolchainError(message, remedy=remedy)


def _folder_of(script: Path) -> Path | None:
    """The folder that a script of the toolchain prints; None where there is no such script."""
    for start in (Path(__file__).resolve(), Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / script).is_file():
                return _printed_folder(folder / script)
    return None


@functools.cache
def _printed_folder(script: Path) -> Path | None:
    # The script alone knows how the pins name their folder; it runs on a bare Python.
    command = [sys.executable, "-B", str(script), "--print"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_PRINT_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        message = f"{script} --print did not name the toolchain's folder"
        raise ToolchainError(message, remedy="run 'make toolchain' and read its error") from error
    line = done.stdout.strip()
    return Path(line) if line else None


def _executable_in(folder: Path, name: str) -> Path | None:
    found = shutil.which(name, path=str(folder.absolute()))
    return Path(found) if found else None
