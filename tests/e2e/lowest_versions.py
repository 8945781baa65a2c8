"""An environment of the lowest versions that pyproject.toml allows, made once outside the clone."""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.e2e.npm_packages import cache_folder

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 600
TESTING = ("hypothesis", "jsonschema", "pytest", "pytest-xdist")
_RECIPE = "1"
"""Raised when the environment is made in another way."""
_UNREACHABLE = re.compile(
    r"Retrying|Connection(?:Error| refused| broken|Reset)|Max retries|timed out|"
    r"Name or service not known|Temporary failure in name resolution|ProxyError|SSLError"
)


def lowest_requirements(pyproject: Path) -> list[str]:
    """Each package that an installation gets by itself, pinned to its lower bound; sorted."""
    project = tomllib.loads(pyproject.read_text())["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"]]
    listed += [each for name, part in extras.items() if name not in ("all", "dev") for each in part]
    return sorted(_lowest(each) for each in listed)


def _lowest(requirement: str) -> str:
    found = re.match(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
    assert found is not None, f"{requirement} has no lower bound"
    return f"{found[1]}=={found[2]}"


def lowest_python() -> Path:
    """Python of the environment; skips the test where packages cannot be downloaded."""
    wanted = [*lowest_requirements(ROOT / "pyproject.toml"), *TESTING]
    parts = [_RECIPE, sys.version, *wanted]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    folder = cache_folder() / "lowest-versions" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".complete").exists():
            _install(folder, wanted)
            (folder / ".complete").touch()
    return folder / "bin" / "python"


def _install(folder: Path, wanted: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    done = subprocess.run(
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted],
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS,
    )
    if done.returncode and _UNREACHABLE.search(done.stderr):
        pytest.skip(f"the lowest versions cannot be downloaded: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


def run_lowest(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run this clone's code with the lowest versions."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "COVERAGE", "PYTEST"))
    }
    path = os.pathsep.join(str(ROOT / folder) for folder in ("infra", "policy-pack"))
    return subprocess.run(
        [str(lowest_python()), *arguments],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS,
    )
