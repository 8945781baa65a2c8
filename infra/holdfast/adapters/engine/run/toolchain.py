"""Where the programs are: `pulumi`, its plugins and the parts of a control plane.

Looked for in the folder that HOLDFAST_TOOLCHAIN names, in the toolchain built from our
pins, then on PATH. The programs of a real node and the definitions of custom resources lie in
folders of their own. Nothing is built or downloaded here; the remedy of every error says what to
run.
"""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from holdfast.adapters.shipped import is_installed, shipped
from holdfast.errors import ToolchainError

FOLDER_VARIABLE = "HOLDFAST_TOOLCHAIN"
DEFINITIONS_VARIABLE = "HOLDFAST_DEFINITIONS"
NODE_VARIABLE = "HOLDFAST_NODE_TOOLS"
_BUILD_SCRIPT = Path("toolchain") / "build.py"
_DEFINITIONS_SCRIPT = Path("toolchain") / "definitions.py"
_PRINT_TIMEOUT_SECONDS = 30


def build_command(target: str) -> str:
    """The command that builds a part of the toolchain, in a clone or from a wheel.

    Args:
        target: `toolchain`, `definitions` or `nodetools`, as make calls them.
    """
    if not is_installed():
        return f"make {target}"
    script = shipped(str(_DEFINITIONS_SCRIPT if target == "definitions" else _BUILD_SCRIPT))
    option = " --node" if target == "nodetools" else ""
    return f"{sys.executable} {script}{option}"


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
        remedy=f"run '{build_command('toolchain')}', or set {FOLDER_VARIABLE} to a folder that "
        "holds it",
    )


def built_folder() -> Path | None:
    """The folder of the project's finished toolchain, None when there is none (yet)."""
    folder = _folder_of(_BUILD_SCRIPT)
    return folder if folder is not None and (folder / "complete").exists() else None


def node_programs_folder() -> Path:
    """The folder with the programs of a real node: kubelet, containerd and others, all of them.

    Raises:
        ToolchainError: they have not been built.
    """
    if explicit := os.environ.get(NODE_VARIABLE):
        return Path(explicit)
    folder = _folder_of(_BUILD_SCRIPT, "--node")
    if folder is not None and (folder / "complete").exists():
        return folder
    message = "the programs of a real node (kubelet, containerd, CoreDNS) have not been built"
    command = build_command("nodetools")
    remedy = f"run '{command}', or set {NODE_VARIABLE} to a folder that holds them"
    raise ToolchainError(message, remedy=remedy)


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
            f"run '{build_command('definitions')}'"
            if script_folder
            else f"set {DEFINITIONS_VARIABLE} to a folder that holds them, or work in a clone of "
            "the project"
        )
    if found := sorted((folder / controller).glob("*.yaml")):
        return tuple(found)
    message = f"no definitions of {controller} were found in {folder}"
    raise ToolchainError(message, remedy=remedy)


def _folder_of(script: Path, *options: str) -> Path | None:
    """The folder that a script of the toolchain prints; None where there is no such script."""
    if is_installed():
        return _printed_folder(shipped(str(script)), *options)
    for start in (Path(__file__).resolve(), Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / script).is_file():
                return _printed_folder(folder / script, *options)
    return None


@functools.cache
def _printed_folder(script: Path, *options: str) -> Path | None:
    # The script alone knows how the pins name their folder; it runs on a bare Python.
    command = [sys.executable, "-B", str(script), *options, "--print"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_PRINT_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        message = f"{script} --print did not name the toolchain's folder"
        raise ToolchainError(
            message, remedy=f"run '{build_command('toolchain')}' and read its error"
        ) from error
    line = done.stdout.strip()
    return Path(line) if line else None


def _executable_in(folder: Path, name: str) -> Path | None:
    found = shutil.which(name, path=str(folder.absolute()))
    return Path(found) if found else None
