"""Where the files of a sandbox lie, computed from its name alone.

    <state>/sandboxes/<name>/sandbox.json         ports and processes (record.py)
                             admin.kubeconfig     also alice, bob, and the programs' own
                             audit.log            who changed what
                             certificates/ configuration/ etcd/ logs/ node/

Light on purpose: other commands ask here whether a context is a sandbox's.
"""

from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.files import state_directory
from holdfast.errors import InputError
from holdfast.kube.syntax import fault_in_label_name

DEFAULT_NAME = "default"
CONTEXT_PREFIX = "holdfast-"
LOOPBACK = "127.0.0.1"
USERS = {"admin": "admin", "alice": "alice@example.test", "bob": "bob@example.test"}
"""People with a kubeconfig, and their names in the audit log.

admin may do everything, alice edit workloads in every namespace, bob read all but secrets.
"""

NAME_MAX_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class SandboxPaths:
    """The files of one sandbox, whether it exists or not.

    Attributes:
        name: RFC 1123 label, at most 40 characters.
        directory: Absolute path; only its owner may enter it.
    """

    name: str
    directory: Path

    @property
    def context(self) -> str:
        """Name of the context in each of its kubeconfigs."""
        return f"{CONTEXT_PREFIX}{self.name}"

    @property
    def lock(self) -> Path:
        """Held while the sandbox is changed; beside the directory, which may be deleted."""
        return self.directory.with_name(f".{self.name}.lock")

    @property
    def record(self) -> Path:
        """Ports and processes."""
        return self.directory / "sandbox.json"

    @property
    def audit_log(self) -> Path:
        """One JSON event a line, written by the API server."""
        return self.directory / "audit.log"

    @property
    def certificates(self) -> Path:
        """Keys and certificates of the two authorities, the servers and the clients."""
        return self.directory / "certificates"

    @property
    def configuration(self) -> Path:
        """Configuration files of the programs, copied when they start."""
        return self.directory / "configuration"

    @property
    def data(self) -> Path:
        """Data directory of etcd: every object of the cluster."""
        return self.directory / "etcd"

    @property
    def node(self) -> Path:
        """What a real node keeps: images, containers, volumes, its state."""
        return self.directory / "node"

    @property
    def node_socket(self) -> Path:
        """Through this socket the API server reaches into the network of the real node."""
        return self.directory / "node.sock"

    def kubeconfig(self, user: str = "admin") -> Path:
        """Kubeconfig of a person (see `USERS`) or of one of the programs."""
        return self.directory / f"{user}.kubeconfig"

    def log(self, program: str) -> Path:
        """Standard output and error of one program."""
        return self.directory / "logs" / f"{program}.log"


def sandbox_paths(name: str = DEFAULT_NAME) -> SandboxPaths:
    """The place of a sandbox; nothing is read, created or started.

    Raises:
        InputError: the name is no RFC 1123 label or too long for contexts and paths.
    """
    if fault := fault_in_label_name(name, NAME_MAX_CHARACTERS):
        message = f"sandbox name {name!r}: {fault}"
        raise InputError(message, remedy="take a name such as 'default' or 'team-a'")
    return SandboxPaths(name, state_directory() / "sandboxes" / name)


def existing_sandboxes() -> tuple[SandboxPaths, ...]:
    """The sandboxes that exist, running or not, by name."""
    folder = state_directory() / "sandboxes"
    found = sorted(path.parent.name for path in folder.glob("[a-z0-9]*/sandbox.json"))
    return tuple(SandboxPaths(name, folder / name) for name in found)


def sandbox_kubeconfig(context: str) -> Path | None:
    """The admin's kubeconfig of the sandbox that a context name belongs to.

    Returns:
        None when no sandbox of that name exists; then the context is none of a sandbox.
    """
    name = context.removeprefix(CONTEXT_PREFIX)
    if name == context or fault_in_label_name(name, NAME_MAX_CHARACTERS):
        return None
    path = sandbox_paths(name).kubeconfig()
    return path if path.is_file() else None
