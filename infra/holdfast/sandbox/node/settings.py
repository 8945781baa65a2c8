"""What the processes of a real node are started with: one file, written before they start.

The addresses are those of networks that only the node itself has, the same in every sandbox.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from holdfast.sandbox.paths import SandboxPaths

NODE_NAME: Final = "real-0"
NODE_ADDRESS: Final = "172.31.255.1"
POD_SUBNET: Final = "10.244.250.0/24"
"""Apart from the addresses that kwok gives to simulated pods, counting from 10.244.0.1."""
DNS_ADDRESS: Final = "10.96.0.10"
CLUSTER_DOMAIN: Final = "cluster.local"
PAUSE_IMAGE: Final = "sandbox.holdfast.dev/pause:node"
CONTAINERD_SOCKET: Final = "/run/containerd/containerd.sock"
KUBELET_ROOT: Final = "/var/lib/kubelet"
"""The kubelet's folder, as the node sees it: short, since the kubelet puts sockets below it."""
FIRST_MARK: Final = "/first"
"""Ends the token in the environment of the node's first process."""
VOLUMES: Final = "/run/holdfast-volumes"
"""The folders of volumes, as the node sees them."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """One node of one sandbox.

    Attributes:
        sandbox: Name of the sandbox.
        directory: Folder of the sandbox.
        api_port: TCP port of the API server on the loopback address.
        programs: Folder of kubelet, containerd and the others that were built.
        cni_plugins: Folder of the CNI plugins.
        runc: Path of runc.
        cgroup: Name of the node's own group, below the root of each hierarchy.
    """

    sandbox: str
    directory: str
    api_port: int
    programs: str
    cni_plugins: str
    runc: str
    cgroup: str

    @property
    def place(self) -> SandboxPaths:
        """The files of the sandbox."""
        return SandboxPaths(self.sandbox, Path(self.directory))

    def configuration(self, name: str) -> Path:
        """A configuration file of the node."""
        return self.place.configuration / "node" / name

    def program(self, name: str) -> str:
        """Path of a program that was built."""
        return f"{self.programs}/{name}"


def cgroup_name(token: str) -> str:
    """The control group of a sandbox's node: no other sandbox of this machine has it."""
    return f"holdfast-{token[:12]}"


def settings_file(place: SandboxPaths) -> Path:
    """Where the settings lie."""
    return place.configuration / "node.json"


def read_settings(file: Path) -> NodeSettings:
    """Read the settings that a start has written."""
    return msgspec.json.decode(file.read_bytes(), type=NodeSettings)
