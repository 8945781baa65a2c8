"""The first process of a real node: makes its mounts and network, starts its programs, reaps.

    python -m holdfast.sandbox.node.first SETTINGS

Runs in namespaces of its own (mounts, network, processes, host name, IPC). When it ends, the
kernel ends every container and removes every mount and interface. It ends when its standard input
is closed, or when one of its programs ends.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.sandbox.node.cgroups import make_cgroups, remove_cgroups
from holdfast.sandbox.node.requirements import HIDDEN_FOLDERS, SYSTEM_PATH
from holdfast.sandbox.node.settings import (
    CONTAINERD_SOCKET,
    KUBELET_ROOT,
    NODE_ADDRESS,
    NODE_NAME,
    VOLUMES,
    NodeSettings,
    read_settings,
)
from holdfast.sandbox.paths import LOOPBACK

START_SECONDS = 60.0
POLL_SECONDS = 0.02
KUBELET_HEALTH_PORT = 10248
_TUNABLES = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
"""What a kubelet sets for the whole machine. Here it finds it set, and sets nothing."""
_FORWARDING = ("net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding")


@dataclass(frozen=True, slots=True)
class NodeProgram:
    """A program of the node and its process, as the node numbers it."""

    name: str
    process: "subprocess.Popen[bytes]"


class NodeRunner:
    """Starts a node in the namespaces of this process and runs it."""

    def __init__(self, settings: NodeSettings) -> None:
        self._settings = settings
        self._programs: list[NodeProgram] = []
        self._begun = time.monotonic()

    def start(self) -> None:
        """Make everything and start every program.

        Raises:
            OSError: the kernel refused something.
            subprocess.CalledProcessError: a command failed; with its words.
            TimeoutError: a program did not answer in time.
        """
        settings, place = self._settings, self._settings.place
        socket.sethostname(NODE_NAME)
        _make_mounts({VOLUMES: place.node / "volumes", KUBELET_ROOT: place.node / "kubelet"})
        make_cgroups(settings.cgroup)
        _make_network()
        sys.stdout.write("network\n")
        sys.stdout.flush()
        containerd = settings.configuration("containerd.toml")
        self._launch("containerd", settings.program("containerd"), "--config", str(containerd))
        self._wait("the API server", lambda: _connects(LOOPBACK, settings.api_port))
        self._wait("containerd", self._containerd_answers)
        self._import_images()
        self._launch_kubernetes()
        self._wait("the kubelet", lambda: _connects(LOOPBACK, KUBELET_HEALTH_PORT))

    def run(self) -> None:
        """Reap what ends until standard input is closed or a program of the node ends."""
        while not _is_closed(sys.stdin.fileno()):
            if name := self._reaped():
                self._say(f"{name} has ended: the node ends")
                return

    def end(self) -> None:
        """Ask the programs to end, kill every process of the node, remove its control groups."""
        for program in reversed(self._programs):
            program.process.terminate()
        # Their data is written at once; nobody here waits for containers, which end with the node.
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline and self._reaped():
            time.sleep(POLL_SECONDS)
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, 0):
                pass
        remove_cgroups(self._settings.cgroup)

    def _launch_kubernetes(self) -> None:
        settings, place = self._settings, self._settings.place
        self._launch(
            "kubelet",
            settings.program("kubelet"),
            f"--config={settings.configuration('kubelet.yaml')}",
            f"--kubeconfig={place.kubeconfig('node')}",
            f"--root-dir={KUBELET_ROOT}",
            f"--cert-dir={place.node}/certificates",
            f"--node-ip={NODE_ADDRESS}",
            f"--hostname-override={NODE_NAME}",
            "--node-labels=topology.kubernetes.io/zone=zone-real",
        )
        self._launch(
            "kube-proxy",
            settings.program("kube-proxy"),
            f"--config={settings.configuration('kube-proxy.yaml')}",
            f"--hostname-override={NODE_NAME}",
        )
        own = str(settings.place.configuration / "node.json")
        self._launch("node-agent", sys.executable, "-m", "holdfast.sandbox.node.agent", own)

    def _launch(self, name: str, *command: str) -> None:
        variables = {
            "PATH": f"{self._settings.programs}:{SYSTEM_PATH}",
            "HOME": str(self._settings.place.node),
            # Twice as many collections keep a third of the memory, at no visible cost.
            "GOGC": "50",
        }
        with self._settings.place.log(name).open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables
            )
        self._programs.append(NodeProgram(name, process))
        self._say(f"started {name}")

    def _containerd_answers(self) -> bool:
        done = subprocess.run(
            [*_ctr(self._settings), "version"], capture_output=True, check=False, timeout=5
        )
        return done.returncode == 0

    def _import_images(self) -> None:
        archive = self._settings.place.node / "pause.tar"
        _command(*_ctr(self._settings), "images", "import", "--local", str(archive))

    def _wait(self, what: str, is_met: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_met():
            if time.monotonic() > deadline:
                raise TimeoutError(f"still without {what} after {START_SECONDS:.0f} s")
            if ended := next(
                (each for each in self._programs if each.process.poll() is not None), None
            ):
                raise ChildProcessError(f"{ended.name} ended: see its log")
            time.sleep(POLL_SECONDS)
        self._say(f"{what} answers")

    def _reaped(self) -> str:
        """Reap every process that has ended; the name of a program of the node among them."""
        names = {program.process.pid: program.name for program in self._programs}
        found = ""
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                found = names.get(pid, found)
        return found

    def _say(self, text: str) -> None:
        sys.stderr.write(f"[{time.monotonic() - self._begun:6.2f}] {text}\n")
        sys.stderr.flush()


def _make_mounts(kept: Mapping[str, Path]) -> None:
    """Hide the host's folders; `kept` are those of the sandbox, by their path in the node."""
    _command("mount", "--make-rshared", "/")
    for hidden in HIDDEN_FOLDERS:
        _command("mount", "-t", "tmpfs", "-o", "mode=755", "node", hidden)
    for made in ("/run/lock", "/run/tunables", *kept):
        Path(made).mkdir(parents=True)
    for seen, folder in kept.items():
        folder.mkdir(parents=True, exist_ok=True)
        _command("mount", "--bind", str(folder), seen)
    for name, value in _TUNABLES.items():
        copy = Path("/run/tunables", name.replace("/", "."))
        copy.write_text(f"{value}\n")
        _command("mount", "--bind", str(copy), f"/proc/sys/{name}")


def _make_network() -> None:
    _command("ip", "link", "set", "lo", "up")
    # A bridge without ports: a device that only carries the node's address and its default route.
    _command("ip", "link", "add", "node0", "type", "bridge")
    _command("ip", "address", "add", f"{NODE_ADDRESS}/24", "dev", "node0")
    _command("ip", "link", "set", "node0", "up")
    _command("ip", "route", "add", "default", "dev", "node0", "src", NODE_ADDRESS)
    for name in _FORWARDING:
        Path("/proc/sys", name).write_text("1")


def _ctr(settings: NodeSettings) -> list[str]:
    return [settings.program("ctr"), "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io"]


def _command(*words: str) -> None:
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={"PATH": SYSTEM_PATH}
    )
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")


def _connects(address: str, port: int) -> bool:
    try:
        with socket.create_connection((address, port), timeout=0.5):
            return True
    except OSError:
        return False


def _is_closed(handle: int) -> bool:
    """Whether the other end of a pipe is closed; waits a moment for it."""
    ready, _, _ = select.select([handle], [], [], 0.1)
    return bool(ready) and not os.read(handle, 1)


def main() -> int:
    """Run the node."""
    node = NodeRunner(read_settings(Path(sys.argv[1])))
    try:
        node.start()
        node.run()
    finally:
        node.end()
    return 1 if not _is_closed(sys.stdin.fileno()) else 0


if __name__ == "__main__":
    sys.exit(main())
