"""Build the engine, its Kubernetes provider and a Kubernetes control plane from pinned Go modules.

The programs land in a cache outside the clone, keyed by a digest of the pins, so that every clone
on a machine shares them. A program is written under a temporary name and renamed: an interrupted
build leaves nothing half-made, and the next run goes on where it stopped. Builds on one machine
wait for each other module by module.

    python toolchain/build.py            build what is missing, print the folder of the programs
    python toolchain/build.py --node     the same for what a real node of the sandbox runs
    python toolchain/build.py --print    print that folder and build nothing
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from go_command import ToolchainError, go_environment, run_go
from programs import MODULES, NODE_MODULES, PROVIDER_VERSION, GoModule, ModuleFile

HERE = Path(__file__).resolve().parent
COLD_BUILD_BYTES = 8 * 1024**3
# Raised when the way of building changes in a manner that the pins do not show.
RECIPE = "1"


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
    digest.update(module.tags.encode())
    return digest.hexdigest()


def programs_folder(modules: tuple[GoModule, ...]) -> Path:
    """The folder that holds every program of these pins; complete when `complete` lies in it."""
    digest = hashlib.sha256("".join(module_digest(module) for module in modules).encode())
    return cache_root() / "toolchain" / digest.hexdigest()[:16]


def is_complete(folder: Path) -> bool:
    return (folder / "complete").exists()


def build_all(modules: tuple[GoModule, ...]) -> Path:
    """Build what is missing; return the folder of the programs."""
    folder = programs_folder(modules)
    if is_complete(folder):
        return folder
    environment = go_environment()
    folder.mkdir(parents=True, exist_ok=True)
    require_space(folder, modules, environment)
    for number, module in enumerate(modules, start=1):
        label = f"[{number}/{len(modules)}] {module.folder}"
        with exclusive(folder.parent / f"{module.folder}.lock", label):
            built = build_module(module, label, environment)
            link_into(built, folder)
    (folder / "complete").touch()
    return folder


def module_folder(module: GoModule) -> Path:
    """Where one module's programs are kept, whatever else changes among the pins."""
    name = f"{module.folder}-{module_digest(module)[:16]}"
    return cache_root() / "toolchain" / "modules" / name


def is_built(module: GoModule) -> bool:
    files = [name for name, _ in module.programs] + [file.name for file in module.companions]
    return all((module_folder(module) / name).exists() for name in files)


def build_module(module: GoModule, label: str, environment: dict[str, str]) -> Path:
    """Build one module's programs into its own folder of the cache and return that folder."""
    target = module_folder(module)
    if is_built(module):
        say(f"{label}: already built")
        return target
    target.mkdir(parents=True, exist_ok=True)
    with scratch_folder(target.with_name(f".{module.folder}")) as scratch:
        source = scratch / "source"
        shutil.copytree(HERE / module.folder, source)
        for file in module.sources:
            copy_module_file(file, source, source / file.name, environment)
        for name, package in module.programs:
            if not (target / name).exists():
                with progress(f"{label}: building {name}"):
                    stamps = " ".join(f"-X {key}={value}" for key, value in module.stamps)
                    flags = ["-trimpath", "-ldflags", f"-s -w {stamps}".strip()]
                    flags += [f"-tags={module.tags}"] if module.tags else []
                    output = str(scratch / name)
                    run_go(["build", *flags, "-o", output, package], source, environment)
                (scratch / name).replace(target / name)
        for file in module.companions:
            copy_module_file(file, source, scratch / file.name, environment)
            (scratch / file.name).replace(target / file.name)
    return target


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """An empty folder to build in; what a killed build left there goes first."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


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


def require_space(folder: Path, modules: tuple[GoModule, ...], environment: dict[str, str]) -> None:
    """Refuse to begin what would fill the disk; what is built already needs no space again."""
    missing = sum(not is_built(module) for module in modules)
    needed = COLD_BUILD_BYTES * missing // len(MODULES)
    cache = run_go(["env", "GOCACHE"], folder, environment)
    for place in (folder, nearest_folder(Path(cache or folder))):
        free = shutil.disk_usage(place).free
        if free < needed:
            message = (
                f"{free / 1024**3:.1f} GiB free at {place}, what is missing needs up to "
                f"{needed / 1024**3:.1f}; free some space, or point HOLDFAST_CACHE and GOCACHE "
                "elsewhere"
            )
            raise ToolchainError(message)


def nearest_folder(path: Path) -> Path:
    """The folder itself, or the nearest one above that exists."""
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())


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


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Tell what is going on, and how long it took at the end of the same line."""
    started = time.monotonic()
    say(f"{what} ...", end="")
    try:
        yield
    except BaseException:
        write("\n")
        raise
    write(f" {time.monotonic() - started:.0f} s\n")


def say(line: str, end: str = "\n") -> None:
    write(f"toolchain {line}{end}")


def write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Build the pinned engine, provider and control plane."
    )
    parser.add_argument("--node", action="store_true", help="the programs of a real node instead")
    parser.add_argument("--print", action="store_true", help="print the folder, build nothing")
    options = parser.parse_args()
    # A cancelled job ends like Ctrl-C does: nothing half-made, and Go is ended as well.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    modules = NODE_MODULES if options.node else MODULES
    try:
        folder = programs_folder(modules) if options.print else build_all(modules)
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
