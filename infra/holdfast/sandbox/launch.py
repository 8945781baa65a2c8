"""Start one program so that it outlives this command, and write down which process it is."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.files.atomic_write import PRIVATE_FILE_MODE
from holdfast.errors import SandboxError
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import read_identity
from holdfast.sandbox.programs import Program
from holdfast.sandbox.record import SandboxRecord, write_record

TOKEN_VARIABLE = "HOLDFAST_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable, not a credential
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
            raise SandboxError(message, remedy=f"look at {command[0]}") from error
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

        Somebody's `etcd` may be a script that has become the real program since it was started.
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
            "'holdfast sandbox up' again, or 'holdfast sandbox down' before it to begin anew; its "
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
