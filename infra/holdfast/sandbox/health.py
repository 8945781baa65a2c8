"""How a sandbox is: which of its programs run, what they take, whether the API server answers.

Reads only; safe at any time, also while another command changes the sandbox.
"""

import http.client
from dataclasses import dataclass
from enum import StrEnum

from holdfast.sandbox.api_client import ApiClient
from holdfast.sandbox.kubeconfig import api_address
from holdfast.sandbox.lock import is_held
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import is_running, resident_bytes
from holdfast.sandbox.programs import PROGRAMS
from holdfast.sandbox.record import SandboxRecord, read_record

READY_TIMEOUT_SECONDS = 3.0


class State(StrEnum):
    """What a sandbox is at the moment."""

    ABSENT = "absent"
    STOPPED = "stopped"
    CHANGING = "changing"
    DEGRADED = "degraded"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class ProgramStatus:
    """One program of a sandbox.

    Attributes:
        program: File name of the executable.
        pid: Its last known process, 0 when it was never started.
        is_running: Whether exactly that process is alive.
        resident_bytes: Resident memory; 0 when it is not running.
    """

    program: str
    pid: int
    is_running: bool
    resident_bytes: int


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """One sandbox.

    Attributes:
        place: Its name and files.
        state: Only RUNNING is fit for use.
        reason: Why the state is another one, and what to do; empty when running.
        api_server: URL; empty when there is no such sandbox.
        programs: In the order of starting; empty when there is no such sandbox.
    """

    place: SandboxPaths
    state: State
    reason: str = ""
    api_server: str = ""
    programs: tuple[ProgramStatus, ...] = ()

    @property
    def is_healthy(self) -> bool:
        """Whether the sandbox is fit for use."""
        return self.state is State.RUNNING

    @property
    def resident_bytes(self) -> int:
        """Resident memory of all programs together."""
        return sum(program.resident_bytes for program in self.programs)


def sandbox_status(place: SandboxPaths) -> SandboxStatus:
    """Look at a sandbox.

    Raises:
        SandboxError: its record cannot be read.
    """
    record = read_record(place)
    if record is None:
        reason = f"there is no sandbox {place.name}; 'holdfast sandbox up' makes one"
        return SandboxStatus(place, State.ABSENT, reason)
    programs = tuple(_program_status(program.name, record) for program in PROGRAMS)
    state, reason = _judge(place, record, programs)
    url = api_address(record.ports.api_server)
    return SandboxStatus(place, state, reason, url, programs)


def is_fit_for_use(place: SandboxPaths, record: SandboxRecord) -> bool:
    """Whether every program runs and the API server says that it is ready."""
    are_running = (
        program.name in record.processes and is_running(record.processes[program.name])
        for program in PROGRAMS
    )
    return all(are_running) and _answers(place, record)


def _program_status(name: str, record: SandboxRecord) -> ProgramStatus:
    identity = record.processes.get(name)
    if identity is None:
        return ProgramStatus(name, 0, is_running=False, resident_bytes=0)
    memory = resident_bytes(identity)
    return ProgramStatus(name, identity.pid, is_running=memory > 0, resident_bytes=memory)


def _judge(
    place: SandboxPaths, record: SandboxRecord, programs: tuple[ProgramStatus, ...]
) -> tuple[State, str]:
    ended = [program.program for program in programs if not program.is_running]
    if not ended and _answers(place, record):
        return State.RUNNING, ""
    if is_held(place):
        return State.CHANGING, "another command is changing it; ask again in a few seconds"
    up = f"'holdfast sandbox up --name {place.name}'"
    if len(ended) == len(programs):
        return State.STOPPED, f"nothing of it is running; {up} starts it again with its data"
    if ended:
        log = f"'holdfast sandbox logs {ended[0]} --name {place.name}'"
        verb = "has" if len(ended) == 1 else "have"
        return State.DEGRADED, f"{', '.join(ended)} {verb} ended; {up} repairs it, {log} says why"
    return State.DEGRADED, f"the API server does not say that it is ready; {up} repairs it"


def _answers(place: SandboxPaths, record: SandboxRecord) -> bool:
    try:
        with ApiClient(place, record.ports.api_server, READY_TIMEOUT_SECONDS) as client:
            return client.is_ready()
    except (OSError, http.client.HTTPException):
        return False
