"""The built wheel in an environment of its own, with chosen packages of this one, offline."""

import functools
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 300
_OTHER_MARKERS = ("extra ==", "sys_platform == 'win32'", "python_version <")


@functools.cache
def built() -> tuple[Path, Path]:
    """Sdist and wheel of this clone, built once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-dist-"))
    return build_into(folder)


def build_into(folder: Path) -> tuple[Path, Path]:
    """Build both as `make dist` does."""
    script = CLONE / "toolchain" / "distribution.py"
    done = subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    sdist, wheel = (Path(line) for line in done.stdout.split())
    return sdist, wheel


def requirements(*extras: str) -> list[str]:
    """Names of the packages that the core and the given extras ask for."""
    project = tomllib.loads((CLONE / "pyproject.toml").read_text())["project"]
    listed = [*project["dependencies"]]
    for extra in extras:
        listed += project["optional-dependencies"][extra]
    return [_name(each) for each in listed]


def with_what_they_need(names: Iterable[str]) -> dict[str, int]:
    """Installed packages that others ask for, themselves included, with their sizes in bytes."""
    found: dict[str, int] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # for another system or Python
        found[name] = sum(each.size or 0 for each in package.files or [] if each.suffix != ".pyc")
        needed = (each.replace('"', "'") for each in package.requires or [])
        waiting += [
            _name(each) for each in needed if not any(mark in each for mark in _OTHER_MARKERS)
        ]
    return found


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~;\[ (]", requirement)[0]).lower()


@dataclass(frozen=True)
class WheelInstallation:
    """An environment that holds the wheel, and links to packages of the environment of the tests.

    Attributes:
        root: Folder of the environment.
        core_bytes: Size of the packages beside the wheel.
    """

    root: Path
    core_bytes: int

    @classmethod
    def create(cls, root: Path, *extras: str, further: Iterable[str] = ()) -> "WheelInstallation":
        """Install the wheel of this clone, and what extras and further packages ask for."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True)
        (site,) = (root / "lib").glob("python*/site-packages")
        packages = with_what_they_need([*requirements(*extras), *further])
        for name in packages:
            _link(name, site)
        pip = [sys.executable, "-m", "pip", "--python", str(root / "bin" / "python")]
        install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
        subprocess.run([*pip, *install, str(built()[1])], check=True)
        return cls(root, sum(packages.values()))

    def run(
        self, *arguments: str, folder: Path, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run the installed command in a folder; nothing of the clone is on its paths."""
        return self.start("holdfast", *arguments, folder=folder, **variables)

    def start(
        self, program: str, *arguments: str, folder: Path, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment, such as python, as `run` does."""
        ambient = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "PULUMI_")) and name != "VIRTUAL_ENV"
        }
        return subprocess.run(
            [str(self.root / "bin" / program), *arguments],
            cwd=folder,
            env=ambient | {"COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"} | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )


def _link(name: str, site: Path) -> None:
    """Link what one package consists of; namespaces that several share are folders of links."""
    for file in distribution(name).files or []:
        if file.parts[0] in ("..", "__pycache__") or file.suffix == ".pyc":
            continue
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(Path(str(file.locate())).resolve())
