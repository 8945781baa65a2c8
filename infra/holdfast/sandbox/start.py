"""Start a sandbox's programs and wait until the sandbox is fit for use.

Neither decides whether to start nor undoes a start that failed: `control_plane` does.
"""

import functools
import shutil
import socket
from pathlib import Path

from holdfast.adapters.files.atomic_write import make_private_directory
from holdfast.errors import SandboxError
from holdfast.sandbox import certificates
from holdfast.sandbox.api_client import ApiClient
from holdfast.sandbox.bootstrap import bootstrap_objects
from holdfast.sandbox.kubeconfig import write_kubeconfig
from holdfast.sandbox.launch import Launcher
from holdfast.sandbox.paths import LOOPBACK, SandboxPaths
from holdfast.sandbox.programs import API_SERVER, CONTROLLER_MANAGER, ETCD, KWOK, SCHEDULER
from holdfast.sandbox.readiness import CONDITIONS, Waiter
from holdfast.sandbox.record import Ports

START_TIMEOUT_SECONDS = 120.0
CONFIGURATION = Path(__file__).with_name("manifests")


def prepare_files(place: SandboxPaths, ports: Ports) -> None:
    """Write all that the programs and the users read: certificates, kubeconfigs, configuration.

    Certificates that are still good are kept: a kubeconfig that somebody copied goes on working.
    """
    make_private_directory(place.log("any").parent)
    make_private_directory(place.configuration)
    if not certificates.certificates_are_current(place):
        certificates.make_certificates(place)
    certificates.make_signing_key(place)
    for client in certificates.CLIENTS:
        write_kubeconfig(place, client, ports.api_server)
    # Copies, because the package may be updated while the programs run.
    for file in CONFIGURATION.glob("*.yaml"):
        shutil.copyfile(file, place.configuration / file.name)


def start_programs(place: SandboxPaths, launcher: Launcher) -> None:
    """Start everything and wait until it can be used.

    Raises:
        SandboxError: a program ended, refused an object, or took too long (exit code 9).
    """
    ports = launcher.record.ports
    waiter = Waiter(launcher.require_all_running, START_TIMEOUT_SECONDS)
    launcher.launch(ETCD)
    waiter.wait("an etcd that answers", lambda: _accepts_connections(ports.etcd))
    launcher.launch(API_SERVER)
    with ApiClient(place, ports.api_server) as client:
        waiter.wait("an API server that answers", client.answers)
        # The server now idles for a second before it writes the built-in roles. kwok works without
        # them; the others, started that early, would be refused and come back much later.
        launcher.launch(KWOK)
        waiter.wait("an API server that is ready", client.is_ready)
        for program in (CONTROLLER_MANAGER, SCHEDULER):
            launcher.launch(program)
        for wanted in bootstrap_objects():
            apply = functools.partial(_apply, client, wanted.path, wanted.content)
            waiter.wait(wanted.path, apply)
        for what, is_met in CONDITIONS.items():
            waiter.wait(what, functools.partial(is_met, client))
    launcher.release()


def _apply(client: ApiClient, path: str, content: dict[str, object]) -> bool:
    if refusal := client.apply(path, content):
        message = f"the API server refused {path}: {refusal}"
        raise SandboxError(message, remedy="see 'holdfast sandbox logs kube-apiserver'")
    return True


def _accepts_connections(port: int) -> bool:
    with socket.create_connection((LOOPBACK, port), timeout=1):
        return True
