"""What a node could leave on the host: interfaces, tables, mounts, groups, settings, processes."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from holdfast.sandbox.node.settings import cgroup_name

from tests.e2e.live_sandbox import LiveSandbox

TUNABLES = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "net/ipv4/conf/all/forwarding",
    "net/ipv4/conf/all/route_localnet",
    "net/ipv4/ip_forward",
    "net/netfilter/nf_conntrack_max",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)


@dataclass(frozen=True)
class HostTraces:
    """What the host itself has, whoever made it."""

    interfaces: tuple[str, ...]
    routes: str
    tables: str
    mounts: tuple[str, ...]
    tunables: tuple[str, ...]
    hostname: str


def host_traces() -> HostTraces:
    """Read them now."""
    interfaces = sorted(path.name for path in Path("/sys/class/net").iterdir())
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return HostTraces(
        interfaces=tuple(interfaces),
        routes=_said("ip", "route", "show", "table", "all"),
        tables=_said("nft", "list", "tables"),
        mounts=tuple(sorted(line.split()[4] for line in mounts)),
        tunables=tuple(_value(name) for name in TUNABLES),
        hostname=_said("hostname"),
    )


def node_group(sandbox: LiveSandbox) -> str:
    """The control group of a sandbox's node."""
    record = json.loads((sandbox.directory / "sandbox.json").read_text())
    return cgroup_name(record["token"])


def groups_of(group: str) -> list[str]:
    """Folders of a node's control group, in all hierarchies."""
    return sorted(str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{group}"))


def node_processes(sandbox: LiveSandbox, group: str) -> list[str]:
    """Command lines of the node's processes: its programs, and whatever runs in its groups."""
    found = []
    for process in (path for path in Path("/proc").iterdir() if path.name.isdigit()):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            groups = (process / "cgroup").read_text()
        except OSError:
            continue
        is_own = f"{sandbox.directory}/" in words and "sandbox.node" in words
        is_own |= f"{sandbox.directory}/configuration/node/" in words
        if is_own or f"/{group}" in groups:
            found.append(words)
    return found


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _value(name: str) -> str:
    file = Path("/proc/sys", name)
    return f"{name}={file.read_text().strip() if file.exists() else ''}"
