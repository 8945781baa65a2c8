"""The real source- and kustomize-controllers of Flux, as processes beside a sandbox."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.live_sandbox import Kubectl
from tests.e2e.operating import eventually

NAMESPACE = "flux-system"
CONTROLLERS = ("source-controller", "kustomize-controller")
# Nobody has to be told, elected or measured: one of each runs, for one test.
FLAGS = ("--events-addr=", "--health-addr=0", "--metrics-addr=0", "--log-level=info")


@dataclass(frozen=True)
class Flux:
    """Flux at work on one sandbox.

    Attributes:
        kustomization: Name of the one Kustomization.
        folder: Where the controllers log.
    """

    kubectl: Kubectl
    kustomization: str
    folder: Path

    def reconcile(self, number: int) -> None:
        """Ask for a fetch and one reconciliation, and wait until both have been done."""
        asked = f"reconcile.fluxcd.io/requestedAt={number}"
        for what in ("gitrepository/holdfast", f"kustomization/{self.kustomization}"):
            self.kubectl("annotate", "--overwrite", what, "-n", NAMESPACE, asked)
            self._wait_until_handled(what, str(number))

    def _wait_until_handled(self, what: str, number: str) -> None:
        def is_handled() -> bool:
            found = self.kubectl.get(what, "-n", NAMESPACE)
            status = found.get("status", {})
            ready = {
                each["type"]: (each["status"], each["observedGeneration"])
                for each in status.get("conditions", ())
            }
            is_ready = ready.get("Ready") == ("True", found["metadata"]["generation"])
            return is_ready and str(status.get("lastHandledReconcileAt")) == number

        eventually(is_handled, f"{what} reconciled: {self.log()}")

    def log(self) -> str:
        """The end of what the controllers said."""
        files = [self.folder / f"{name}.log" for name in CONTROLLERS]
        return "\n".join(file.read_text()[-3000:] for file in files if file.exists())


@contextmanager
def flux(tools: Path, kubectl: Kubectl, folder: Path, kustomization: str) -> Iterator[Flux]:
    """Run both controllers, each under an account of its own, until the end of the block."""
    kubectl("create", "namespace", NAMESPACE)
    for definition in sorted((tools / "definitions").rglob("*.fluxcd.io.yaml")):
        kubectl("apply", "--server-side", "-f", str(definition))
        for condition in ("jsonpath={.status.conditions[0].type}", "condition=Established"):
            kubectl.wait_for(condition, f"crd/{definition.stem}")
    with ExitStack() as stack:
        for name in CONTROLLERS:
            process = _start(tools / name, kubectl, folder)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield Flux(kubectl, kustomization, folder)


def _start(program: Path, kubectl: Kubectl, folder: Path) -> "subprocess.Popen[bytes]":
    name = program.name
    kubectl("create", "serviceaccount", name, "-n", NAMESPACE)
    may = ("--clusterrole=cluster-admin", f"--serviceaccount={NAMESPACE}:{name}")
    kubectl("create", "clusterrolebinding", name, *may)
    token = kubectl("create", "token", name, "-n", NAMESPACE).strip()
    config = json.loads(kubectl("config", "view", "--raw", "-o", "json"))
    for user in config["users"]:
        user["user"] = {"token": token}
    kubeconfig = folder / f"{name}.kubeconfig"
    kubeconfig.write_text(json.dumps(config))
    flags = list(FLAGS)
    if name == "source-controller":
        address, artifacts = f"127.0.0.1:{_free_port()}", folder / "artifacts"
        artifacts.mkdir()
        flags += [f"--storage-{key}={address}" for key in ("addr", "adv-addr")]
        flags.append(f"--storage-path={artifacts}")
    with (folder / f"{name}.log").open("wb") as log:
        variables = {"KUBECONFIG": str(kubeconfig), "RUNTIME_NAMESPACE": NAMESPACE}
        return subprocess.Popen(
            [program, *flags], stdout=log, stderr=log, env=os.environ | variables
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
