"""What a real node needs of the machine; everything that is missing is named in one error.

python -m holdfast.sandbox.node.requirements    say what is missing (exit code 2) or nothing
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.run.toolchain import node_programs_folder
from holdfast.errors import ExitCode, SandboxError, ToolchainError
from holdfast.sandbox.paths import SandboxPaths

PROGRAM_NAMES = (
    "containerd",
    "containerd-shim-runc-v2",
    "coredns",
    "ctr",
    "kube-proxy",
    "kubelet",
    "pause",
)
CNI_FOLDERS = ("/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin")
CNI_PLUGINS = ("host-local", "loopback", "ptp")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

HIDDEN_FOLDERS = ("/run", "/var/log", "/var/lib")
"""Over these the node has folders of its own: a sandbox below one of them could not be seen."""

CGROUPS = Path("/sys/fs/cgroup")
_CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
_V1_CONTROLLERS = (*_CONTROLLERS, "cpuacct", "devices")


@dataclass(frozen=True, slots=True)
class Needed:
    """A program of the distribution.

    Attributes:
        program: Name of the executable.
        package: Package of Debian and Ubuntu that holds it.
    """

    program: str
    package: str


NEEDED = (
    Needed("runc", "runc"),
    Needed("nft", "nftables"),
    Needed("ip", "iproute2"),
    Needed("mount", "mount"),
    Needed("unshare", "util-linux"),
    Needed("nsenter", "util-linux"),
)
CNI_PACKAGE = "containernetworking-plugins"


def system_program(name: str) -> Path | None:
    """A program of the distribution; sbin counts, whatever PATH says."""
    found = shutil.which(name, path=SYSTEM_PATH)
    return Path(found) if found else None


def cni_folder() -> Path | None:
    """The folder that holds the CNI plugins a node uses."""
    folders = (Path(folder) for folder in CNI_FOLDERS)
    return next(
        (each for each in folders if all((each / name).exists() for name in CNI_PLUGINS)), None
    )


def missing_packages() -> tuple[str, ...]:
    """Packages of Debian and Ubuntu that hold what is missing, by name."""
    wanted = {each.package for each in NEEDED if system_program(each.program) is None}
    if cni_folder() is None:
        wanted.add(CNI_PACKAGE)
    return tuple(sorted(wanted))


def require_node(place: SandboxPaths) -> None:
    """Refuse a machine on which no node can run, naming all that is missing at once.

    Raises:
        SandboxError: exit code 2; nothing was started.
    """
    _refuse(
        [
            *_faults_of_user(),
            *_faults_of_programs(),
            *_faults_of_cgroups(),
            *_faults_of_place(place),
        ]
    )


def _refuse(faults: list[tuple[str, str]]) -> None:
    if not faults:
        return
    raise SandboxError(
        "a real node cannot run here: " + "; ".join(what for what, _ in faults),
        remedy="; ".join(remedy for _, remedy in faults)
        + "; or leave out --node: the nodes are simulated then",
        exit_code=ExitCode.BAD_INPUT,
    )


def _faults_of_user() -> list[tuple[str, str]]:
    if os.geteuid():
        return [("it needs root", "run as root")]
    if (unshare := system_program("unshare")) is None:
        return []  # named among the packages
    options = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--mount-proc"]
    done = subprocess.run([unshare, *options, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        words = done.stderr.strip() or f"exit code {done.returncode}"
        remedy = "run outside of this container, or with the capability SYS_ADMIN"
        return [(f"this machine gives no namespaces ({words})", remedy)]
    return []


def _faults_of_programs() -> list[tuple[str, str]]:
    faults = []
    try:
        folder = node_programs_folder()
        absent = [name for name in PROGRAM_NAMES if not os.access(folder / name, os.X_OK)]
        if absent:
            faults.append((f"{', '.join(absent)} not found in {folder}", "run 'make nodetools'"))
    except ToolchainError as error:
        faults.append((error.message, str(error.remedy)))
    if packages := missing_packages():
        command = f"apt-get install --no-install-recommends {' '.join(packages)}"
        faults.append((f"missing packages: {', '.join(packages)}", f"run '{command}'"))
    return faults


def _faults_of_cgroups() -> list[tuple[str, str]]:
    root = CGROUPS
    if (root / "cgroup.controllers").exists():
        # Asking the kernel for another controller here would change the host.
        offered = (root / "cgroup.subtree_control").read_text().split()
        absent = [name for name in _CONTROLLERS if name not in offered]
        words = " ".join(f"+{name}" for name in absent)
        remedy = f"run 'echo {words} > {root}/cgroup.subtree_control'"
    else:
        absent = [name for name in _V1_CONTROLLERS if not (root / name).is_dir()]
        remedy = f"mount these cgroup controllers below {root}"
    if absent:
        return [(f"cgroup controllers are not offered: {', '.join(absent)}", remedy)]
    return []


def _faults_of_place(place: SandboxPaths) -> list[tuple[str, str]]:
    remedy = "set HOLDFAST_STATE to another folder"
    hidden = [each for each in HIDDEN_FOLDERS if place.directory.resolve().is_relative_to(each)]
    if hidden:
        return [(f"the node has a {hidden[0]} of its own and would not see the sandbox", remedy)]
    return []


def main() -> int:
    """Say what of the machine's is missing."""
    try:
        _refuse([*_faults_of_user(), *_faults_of_programs(), *_faults_of_cgroups()])
    except SandboxError as error:
        sys.stderr.write(f"error: {error}\n")
        return int(error.exit_code)
    sys.stderr.write("a real node can run here: holdfast sandbox up --node\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
