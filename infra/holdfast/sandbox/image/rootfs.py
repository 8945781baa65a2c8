"""The files of the sandbox's image, copied from this machine: Python, curl, a shell, the agent.

Pods need more than their own program: containers that wait, check and fetch run curl and a shell.
The same machine makes the same files; another distribution makes others.
"""

import compileall
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.node.requirements import system_program

PROGRAM: Final = Path(__file__).with_name("sample_agent.py")
ENTRYPOINT: Final = ("/usr/bin/python3", "-u", "/app/agent.py")
_LEFT_OUT: Final = (
    *("__pycache__", "site-packages", "dist-packages", "config-*", "test", "tests", "idlelib"),
    *("tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data", "_tkinter*", "_test*"),
    *("sqlite3", "_sqlite3*", "curses", "_curses*", "xxlimited*", "turtle.py", "*.a"),
)
_CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
_NAME_SERVICES: Final = ("libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2")
_FILES: Final = {
    "etc/passwd": "root:x:0:0::/:/bin/sh\nagent:x:65532:65532::/tmp:/bin/sh\n",
    "etc/group": "root:x:0:\nagent:x:65532:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
_NEEDED: Final = {"busybox": "busybox-static", "curl": "curl", "ldd": "libc-bin"}


def make_rootfs(folder: Path) -> None:
    """Lay the files out in an empty folder.

    Raises:
        SandboxError: this machine lacks a program (exit code 2), or one cannot be examined.
        OSError: a file cannot be copied.
    """
    programs = _programs()
    for name, content in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o1777)
    _copy_busybox(programs["busybox"], folder)
    libraries = _copy_python(folder)
    shutil.copy(programs["curl"], folder / "usr" / "bin" / "curl")
    _copy_libraries([programs["curl"], *libraries], programs["ldd"], folder)
    if _CERTIFICATES.exists():
        _copy_to_same_place(_CERTIFICATES, folder)
    (folder / "app").mkdir()
    shutil.copyfile(PROGRAM, folder / "app" / "agent.py")
    for path in (path for path in folder.rglob("*") if not path.is_symlink() and path.is_dir()):
        path.chmod(0o1777 if path.name == "tmp" and path.parent == folder else 0o755)


def _programs() -> dict[str, Path]:
    found = {name: system_program(name) for name in _NEEDED}
    if missing := [_NEEDED[name] for name, path in found.items() if path is None]:
        packages = " ".join(sorted(missing))
        raise SandboxError(
            f"the image is made of programs that this machine lacks: {packages}",
            remedy=f"run 'apt-get install --no-install-recommends {packages}'",
            exit_code=ExitCode.BAD_INPUT,
        )
    return {name: path for name, path in found.items() if path is not None}


def _copy_busybox(busybox: Path, folder: Path) -> None:
    commands = folder / "bin"
    commands.mkdir()
    shutil.copy(busybox.resolve(), commands / "busybox")
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if name != "busybox":
            (commands / name).symlink_to("busybox")


def _copy_python(folder: Path) -> list[Path]:
    """Copy this interpreter and its library; return what of it is linked with other libraries."""
    library = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # Of a virtual environment, the one that it was made from.
    executable = Path(sys.base_prefix, "bin", version).resolve()
    programs = folder / "usr" / "bin"
    programs.mkdir(parents=True)
    shutil.copy(executable, programs / version)
    for name in ("python3", "python"):
        (programs / name).symlink_to(version)
    target = folder / "usr" / "lib" / version
    shutil.copytree(library, target, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    # Its root is read-only in pods: what is not compiled now is compiled again at each start.
    compileall.compile_dir(
        target,
        quiet=2,
        stripdir=str(folder),
        prependdir="/",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    return [executable, *sorted((target / "lib-dynload").glob("*.so"))]


def _copy_libraries(programs: Iterable[Path], ldd: Path, folder: Path) -> None:
    wanted: set[Path] = set()
    for program in programs:
        done = subprocess.run([ldd, program], capture_output=True, text=True, check=False)
        if missing := re.findall(r"(\S+) => not found", done.stdout):
            raise SandboxError(
                f"{program} needs {', '.join(missing)}, which this machine lacks",
                remedy="install it, or run Holdfast with another Python",
            )
        wanted |= {Path(found) for found in re.findall(r"(/\S+) \(0x", done.stdout)}
    for library in sorted(wanted):
        _copy_to_same_place(library, folder)
        if library.name.startswith("libc.so"):
            for name in _NAME_SERVICES:
                if (service := library.with_name(name)).exists():
                    _copy_to_same_place(service, folder)


def _copy_to_same_place(file: Path, folder: Path) -> None:
    target = folder / file.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
