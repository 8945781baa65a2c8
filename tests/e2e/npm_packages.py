"""The npm packages of a test's TypeScript program, installed once outside the clone."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MINIMUM_NODE = 20
INSTALL_SECONDS = 600


def require_node() -> None:
    """Skip, and say what is missing, where no TypeScript program can run at all."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: needs Node.js {MINIMUM_NODE} or newer")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    found = re.match(r"v(\d+)", version.stdout)
    if found is None or int(found[1]) < MINIMUM_NODE:
        pytest.skip(f"Node.js {MINIMUM_NODE} or newer is needed, found {version.stdout.strip()}")


def installed_packages(package_json: Path, *, besides: str) -> Path:
    """Install what a program's `package.json` asks for, and return the `node_modules` folder.

    Args:
        package_json: The program's own.
        besides: Package that the caller provides.
    """
    wanted = json.loads(package_json.read_text())
    packages = wanted["dependencies"] | wanted["devDependencies"]
    packages.pop(besides)
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()[:16]
    folder = cache_folder() / "npm" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(folder, packages)
    return folder / "node_modules"


def _install(folder: Path, packages: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    document = {"name": "packages", "private": True, "dependencies": packages}
    (folder / "package.json").write_text(json.dumps(document))
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS,
    )
    assert done.returncode == 0, f"npm could not install {packages}:\n{done.stderr}"
    (folder / "complete").touch()


def cache_folder() -> Path:
    """Where tests keep what they have downloaded: outside the clone."""
    if explicit := os.environ.get("HOLDFAST_CACHE"):
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "holdfast"
