"""Start a sandbox's programs, wait until it is fit for use, and end exactly those programs.

`control_plane` decides whether to start and undoes a start that failed. The order of a stop
matters: an API server that loses its etcd never ends by itself, and an etcd that outlives the stop
later removes a file of the next one in the same folder.
"""

import functools
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.files import PRIVATE_FILE_MODE, make_private_directory
from holdfast.errors import SandboxError
from holdfast.sandbox import certificates
from holdfast.sandbox.api_server import SandboxApiClient, write_kubeconfig
from holdfast.sandbox.bootstrap import bootstrap_objects
from holdfast.sandbox.health import CONDITIONS, Waiter, real_node_is_ready
from holdfast.sandbox.node.cgroups import remove_cgroups
from holdfast.sandbox.node.objects import node_objects
from holdfast.sandbox.node.prepare import prepare_node
from holdfast.sandbox.node.settings import FIRST_MARK, cgroup_name, read_settings, settings_file
from holdfast.sandbox.paths import LOOPBACK, SandboxPaths
from holdfast.sandbox.process import (
    ProcessIdentity,
    find_by_environment,
    is_running,
    read_identity,
    send_signal,
    wait_until_gone,
)
from holdfast.sandbox.programs import (
    API_SERVER,
    CONTROLLER_MANAGER,
    ETCD,
    KWOK,
    NODE,
    SCHEDULER,
    Program,
    programs_of,
)
from holdfast.sandbox.record import TOKEN_VARIABLE, SandboxRecord, write_record

LOG_TAIL_LINES = 6
_LOG_TAIL_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Launched:
    """A program that this command started.

    Attributes:
        program: Which one.
        process: Its handle, for the exit code.
    """

    program: Program
    process: "subprocess.Popen[bytes]"


class Launcher:
    """Starts programs of one sandbox and keeps its record current."""

    def __init__(
        self, place: SandboxPaths, record: SandboxRecord, executables: Mapping[str, Path]
    ) -> None:
        self._place = place
        self._executables = executables
        self.record = record
        self.launched: list[Launched] = []

    def launch(self, program: Program) -> None:
        """Start a program in a session of its own: no terminal, no signal meant for this command.

        Raises:
            SandboxError: the system refused to start it, or it ended at once.
        """
        command = [
            str(self._executables[program.name]),
            *program.arguments(self._place, self.record.ports),
        ]
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._place.directory),
            TOKEN_VARIABLE: process_token(self.record, program),
            **program.environment,
        }
        try:
            process = self._spawn(command, environment, self._place.log(program.name))
        except OSError as error:
            message = f"{program.name} could not be started: {error.strerror}"
            raise SandboxError(message, remedy=f"see {command[0]}") from error
        identity = read_identity(process.pid)
        if identity is None:
            raise SandboxError(self._exit_report(program, process))
        self.record = self.record.with_process(program.name, identity)
        write_record(self._place, self.record)
        self.launched.append(Launched(program, process))

    def require_all_running(self) -> None:
        """Look after what was started.

        Raises:
            SandboxError: a program has ended; with its exit code and its last words.
        """
        for launched in self.launched:
            if launched.process.poll() is not None:
                raise SandboxError(self._exit_report(launched.program, launched.process))

    def release(self) -> None:
        """Let the programs run on without this command, under their final identities.

        The `etcd` of a user may be a script that has become the real program since it was started.
        """
        for launched in self.launched:
            if identity := read_identity(launched.process.pid):
                self.record = self.record.with_process(launched.program.name, identity)
            # Python warns of processes left running; here that is the purpose.
            launched.process.returncode = 0
        self.launched.clear()
        write_record(self._place, self.record)

    def _spawn(
        self, command: list[str], environment: dict[str, str], log: Path
    ) -> "subprocess.Popen[bytes]":
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE_MODE)
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=handle,
                cwd=self._place.directory,
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(handle)

    def _exit_report(self, program: Program, process: "subprocess.Popen[bytes]") -> str:
        log = self._place.log(program.name)
        return (
            f"{program.name} ended with exit code {process.wait()} while starting; run "
            "'holdfast sandbox up' again, or 'holdfast sandbox down' before it to start over; its "
            f"last words in {log}:\n{log_tail(log)}"
        )


def process_token(record: SandboxRecord, program: Program) -> str:
    """What the environment of a sandbox's program says: no other process on earth has it."""
    return f"{record.token}/{program.name}"


def log_tail(log: Path) -> str:
    """The last lines of a log, indented."""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LOG_TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(f"  {line}" for line in lines[-LOG_TAIL_LINES:])


START_TIMEOUT_SECONDS = 120.0
_REAL_NODE = "a real node that is ready and resolves names"
CONFIGURATION = Path(__file__).with_name("manifests")


def prepare_files(place: SandboxPaths, record: SandboxRecord) -> None:
    """Write all that the programs and the users read: certificates, kubeconfigs, configuration.

    Certificates that are still good are kept: a copied kubeconfig goes on working.
    """
    make_private_directory(place.log("any").parent)
    make_private_directory(place.configuration)
    if not certificates.certificates_are_current(place):
        certificates.make_certificates(place)
    certificates.make_signing_key(place)
    for client in certificates.CLIENTS:
        write_kubeconfig(place, client, record.ports.api_server)
    # Copies, because the package may be updated while the programs run.
    for file in CONFIGURATION.glob("*.yaml"):
        shutil.copyfile(file, place.configuration / file.name)
    if record.has_node:
        prepare_node(place, record)


def start_programs(place: SandboxPaths, launcher: Launcher) -> None:
    """Start everything and wait until it can be used.

    Raises:
        SandboxError: a program ended, refused an object, or took too long (exit code 9).
    """
    record = launcher.record
    ports = record.ports
    programs = {program.name: program for program in programs_of(record)}
    waiter = Waiter(launcher.require_all_running, START_TIMEOUT_SECONDS)
    launcher.launch(programs[ETCD.name])
    waiter.wait("an etcd that answers", lambda: _accepts_connections(ports.etcd))
    launcher.launch(programs[API_SERVER.name])
    with SandboxApiClient(place, ports.api_server) as client:
        waiter.wait("an API server that answers", client.answers)
        # The server now idles for a second before it writes the built-in roles. kwok works without
        # them; the others, started that early, would be refused and come back much later.
        launcher.launch(programs[KWOK.name])
        waiter.wait("an API server that is ready", client.is_ready)
        for program in (CONTROLLER_MANAGER, SCHEDULER, *([NODE] if record.has_node else [])):
            launcher.launch(program)
        objects = bootstrap_objects(has_node=record.has_node)
        if record.has_node:
            objects += node_objects(read_settings(settings_file(place)))
        for wanted in objects:
            apply = functools.partial(_apply, client, wanted.path, wanted.content)
            waiter.wait(wanted.path, apply)
        conditions = CONDITIONS | ({_REAL_NODE: real_node_is_ready} if record.has_node else {})
        for what, is_met in conditions.items():
            waiter.wait(what, functools.partial(is_met, client))
    launcher.release()


def _apply(client: SandboxApiClient, path: str, content: dict[str, object]) -> bool:
    if refusal := client.apply(path, content):
        message = f"the API server refused {path}: {refusal}"
        raise SandboxError(message, remedy="see 'holdfast sandbox logs kube-apiserver'")
    return True


def _accepts_connections(port: int) -> bool:
    with socket.create_connection((LOOPBACK, port), timeout=1):
        return True


KILL_SECONDS = 10.0
"""How long the kernel may take to end a killed process (a slow disk can hold it)."""


def stop_programs(record: SandboxRecord, *, is_urgent: bool = False) -> int:
    """End every process of a sandbox; return how many there were.

    Also ends what was started but not recorded, because the starting command was killed: such a
    process carries the sandbox's token in its environment.

    Args:
        record: Says which processes are the sandbox's; anything else keeps running.
        is_urgent: Kill at once instead of asking first; the order stays.

    Raises:
        SandboxError: a process did not end even when killed.
    """
    count = 0
    has_database = bool(_processes_of(ETCD, record))
    for program in reversed(programs_of(record)):
        # Without its etcd an API server never ends by itself: asking it would only cost time.
        is_pointless = program is API_SERVER and not has_database
        for process in _processes_of(program, record):
            _stop(process, program, is_urgent=is_urgent or is_pointless)
            count += 1
        if program is NODE:
            _sweep_node(record)
    return count


def _sweep_node(record: SandboxRecord) -> None:
    """End what a node left whose outer process was killed: it ends by itself within seconds."""
    mark = f"{process_token(record, NODE)}{FIRST_MARK}"
    for process in find_by_environment(TOKEN_VARIABLE, mark):
        if not wait_until_gone(process, NODE.stop_seconds):
            _stop(process, NODE, is_urgent=True)
    remove_cgroups(cgroup_name(record.token))


def _processes_of(program: Program, record: SandboxRecord) -> set[ProcessIdentity]:
    recorded = record.processes.get(program.name)
    found = set(find_by_environment(TOKEN_VARIABLE, process_token(record, program)))
    return found | ({recorded} if recorded and is_running(recorded) else set())


def _stop(process: ProcessIdentity, program: Program, *, is_urgent: bool) -> None:
    if not is_urgent:
        send_signal(process, signal.SIGTERM)
        if wait_until_gone(process, program.stop_seconds):
            return
    send_signal(process, signal.SIGKILL)
    if not wait_until_gone(process, KILL_SECONDS):
        message = f"{program.name} (process {process.pid}) does not end"
        raise SandboxError(message, remedy="wait until its disk answers, then run this again")
