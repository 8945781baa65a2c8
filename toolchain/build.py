"""Build the engine, its Kubernetes provider and a Kubernetes control plane from pinned Go modules.

The programs land in a cache outside the clone, keyed by a digest of the pins, so that every clone
on a machine shares them. A program is written under a temporary name and renamed: an interrupted
build leaves nothing half-made, and the next run goes on where it stopped. Builds on one machine
wait for each other module by module.

    python toolchain/build.py            build what is missing, print the folder of the programs
    python toolchain/build.py --print    print that folder and build nothing
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from programs import MODULES, PROVIDER_VERSION, GoModule, ModuleFile

HERE = Path(__file__).resolve().parent
MINIMUM_GO = (1, 26)
COLD_BUILD_BYTES = 8 * 1024**3
# Raised when the way of building changes in a manner that the pins do not show.
RECIPE = "1"


class ToolchainError(Exception):
    """The toolchain cannot be built; the text says why and what to do."""


def cache_root() -> Path:
    """Where caches of this machine live: HOLDFAST_CACHE, else the XDG cache folder."""
    if explicit := os.environ.get("HOLDFAST_CACHE"):
        return Path(explicit).resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "holdfast"


def module_digest(module: GoModule) -> str:
    """Digest of all that decides what a module's programs are: its pins, its sources, its entry."""
    digest = hashlib.sha256(f"{RECIPE}\n{module!r}\n".encode())
    for path in sorted((HERE / module.folder).iterdir()):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def programs_folder() -> Path:
    """The folder that holds every program of these pins; complete when `complete` lies in it."""
    digest = hashlib.sha256("".join(module_digest(module) for module in MODULES).encode())
    return cache_root() / "toolchain" / digest.hexdigest()[:16]


def is_complete(folder: Path) -> bool:
    return (folder / "complete").exists()


def build_all() -> Path:
    """Build what is missing; return the folder of the programs."""
    folder = programs_folder()
    if is_complete(folder):
        return folder
    environment = go_environment()
    folder.mkdir(parents=True, exist_ok=True)
    require_space(folder)
    for number, module in enumerate(MODULES, start=1):
        label = f"[{number}/{len(MODULES)}] {module.folder}"
        with exclusive(folder.parent / f"{module.folder}.lock", label):
            built = build_module(module, label, environment)
            link_into(built, folder)
    (folder / "complete").touch()
    return folder


def build_module(module: GoModule, label: str, environment: dict[str, str]) -> Path:
    """Build one module's programs into its own folder of the cache and return that folder."""
    target = (
        cache_root() / "toolchain" / "modules" / f"{module.folder}-{module_digest(module)[:16]}"
    )
    target.mkdir(parents=True, exist_ok=True)
    missing = [entry for entry in module.programs if not (target / entry[0]).exists()]
    lacking = [file for file in module.companions if not (target / file.name).exists()]
    if not missing and not lacking:
        say(f"{label}: already built")
        return target
    with tempfile.TemporaryDirectory(prefix="build-", dir=target.parent) as scratch:
        source = Path(scratch) / "source"
        shutil.copytree(HERE / module.folder, source)
        for file in module.sources:
            copy_module_file(file, source, source / file.name, environment)
        for name, package in missing:
            started = time.monotonic()
            say(f"{label}: building {name} ...")
            output = Path(scratch) / name
            stamps = " ".join(f"-X {key}={value}" for key, value in module.stamps)
            flags = ["-trimpath", "-ldflags", f"-s -w {stamps}".strip()]
            run_go(["build", *flags, "-o", str(output), package], source, environment)
            output.replace(target / name)
            say(f"{label}: built {name} in {time.monotonic() - started:.0f} s")
        for file in lacking:
            output = Path(scratch) / file.name
            copy_module_file(file, source, output, environment)
            output.replace(target / file.name)
    return target


def copy_module_file(
    file: ModuleFile, source: Path, target: Path, environment: dict[str, str]
) -> None:
    """Copy a file out of a pinned module's source tree; a JSON schema gets its version set."""
    run_go(["mod", "download", file.module], source, environment)
    module_root = run_go(["list", "-m", "-f", "{{.Dir}}", file.module], source, environment)
    data = (Path(module_root) / file.path).read_bytes()
    if file.name == "schema.json":
        data = json.dumps(json.loads(data) | {"version": PROVIDER_VERSION}).encode()
    target.write_bytes(data)
    target.chmod(0o755 if file.executable else 0o644)


def link_into(built: Path, folder: Path) -> None:
    """Lay a module's programs into the shared folder, as hard links, each by an atomic rename."""
    for program in built.iterdir():
        scratch = folder / f".{program.name}.{os.getpid()}"
        scratch.unlink(missing_ok=True)
        os.link(program, scratch)
        scratch.replace(folder / program.name)


def go_environment() -> dict[str, str]:
    """The environment of every Go call, after a look at which Go there is."""
    executable = shutil.which("go")
    remedy = (
        "install Go 1.26 or newer and put it on PATH, or set HOLDFAST_PULUMI to your own pulumi"
    )
    if executable is None:
        message = f"Go was not found; {remedy}"
        raise ToolchainError(message)
    found = subprocess.run(
        [executable, "env", "GOVERSION"], capture_output=True, text=True, check=False
    ).stdout.strip()
    match = re.match(r"go(\d+)\.(\d+)", found)
    if match is None or (int(match[1]), int(match[2])) < MINIMUM_GO:
        message = (
            f"Go 1.26 or newer is needed, found {found or 'no version'} at {executable}; {remedy}"
        )
        raise ToolchainError(message)
    return os.environ | {
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def require_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < COLD_BUILD_BYTES:
        message = (
            f"{free / 1024**3:.1f} GiB free at {folder}, a cold build needs "
            f"{COLD_BUILD_BYTES / 1024**3:.0f}; free some space or point HOLDFAST_CACHE elsewhere"
        )
        raise ToolchainError(message)


def run_go(arguments: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run one go command in a folder and return its standard output."""
    done = subprocess.run(
        ["go", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return done.stdout.strip()
    raise ToolchainError(explain_failure(arguments, done.stderr))


def explain_failure(arguments: list[str], stderr: str) -> str:
    """One clear message for the ways in which a Go build fails on other people's machines."""
    lines = [
        line
        for line in stderr.splitlines()
        if line.strip() and not line.startswith("go: downloading")
    ]
    detail = "\n  ".join(lines[-6:])
    unreachable = (
        r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake"
        r"|404 Not Found|410 Gone|403 Forbidden"
    )
    if "no space left on device" in stderr:
        remedy = "free some space or point HOLDFAST_CACHE and GOCACHE elsewhere"
        return f"the disk is full; {remedy}\n  {detail}"
    if re.search(unreachable, stderr):
        return (
            "a pinned Go module could not be fetched; check the network and GOPROXY, then run "
            f"'make toolchain' again (it goes on where it stopped)\n  {detail}"
        )
    return f"'go {' '.join(arguments[:1])}' failed; what is built so far is kept\n  {detail}"


@contextmanager
def exclusive(lock: Path, label: str) -> Iterator[None]:
    """Hold a lock file, saying so when another build has it."""
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{label}: another build is at it, waiting ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(line: str) -> None:
    print(f"toolchain {line}", file=sys.stderr, flush=True)  # noqa: T201 - the progress of a script


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Build the pinned engine, provider and control plane."
    )
    parser.add_argument("--print", action="store_true", help="print the folder, build nothing")
    options = parser.parse_args()
    try:
        folder = programs_folder() if options.print else build_all()
    except ToolchainError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("stopped; the next run goes on from here")
        return 8
    print(folder)  # noqa: T201 - the answer of a script
    return 0


if __name__ == "__main__":
    sys.exit(main())
