"""When a sandbox may be used, and its state: programs, memory, whether the API server answers.

Each condition has a name, so that a start that takes too long says what it waited for. Reads only;
safe at any time, also while another command changes the sandbox.
"""

import http.client
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.api_server import SandboxApiClient, api_address
from holdfast.sandbox.bootstrap import NODE_NAMES
from holdfast.sandbox.node.objects import DNS_DEPLOYMENT
from holdfast.sandbox.node.settings import NODE_NAME
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import is_running, resident_bytes, resident_bytes_of_tree
from holdfast.sandbox.programs import NODE, programs_of
from holdfast.sandbox.record import SandboxRecord, is_held, read_record

POLL_SECONDS = 0.05
_RBAC = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
_NOT_READY_TAINT = "node.kubernetes.io/not-ready"

Condition = Callable[[SandboxApiClient], bool]


def accounts_are_made(client: SandboxApiClient) -> bool:
    """The controllers work: pods of a namespace need its default service account."""
    return client.read("/api/v1/namespaces/default/serviceaccounts/default") is not None


def roles_are_filled(client: SandboxApiClient) -> bool:
    """A controller fills the roles `edit` and `view` from others; until then they allow nothing."""
    roles = (client.read(f"{_RBAC}/{name}") for name in ("edit", "view"))
    return all(role is not None and bool(role.get("rules")) for role in roles)


def nodes_are_ready(client: SandboxApiClient) -> bool:
    """Our nodes are ready; what a user did to them in an earlier run (a taint) stays."""
    nodes = (client.read(f"/api/v1/nodes/{name}") for name in NODE_NAMES)
    return all(node is not None and _is_ready(node) for node in nodes)


def real_node_is_ready(client: SandboxApiClient) -> bool:
    """The kubelet says so, and names are resolved for its pods."""
    node = client.read(f"/api/v1/nodes/{NODE_NAME}")
    dns = client.read(DNS_DEPLOYMENT)
    is_resolving = dns is not None and bool(dns.get("status", {}).get("readyReplicas"))
    return node is not None and _is_ready(node) and is_resolving


CONDITIONS: dict[str, Condition] = {
    "the default service account": accounts_are_made,
    "the rules of the roles edit and view": roles_are_filled,
    "ready nodes": nodes_are_ready,
}
"""After the API server is ready and the bootstrap objects are applied, in this order."""


class Waiter:
    """Waits for conditions within one time limit, looking after the programs meanwhile.

    Args:
        require_all_running: Raises when a program has ended; called at every look.
        timeout_seconds: For all waits together.
    """

    def __init__(self, require_all_running: Callable[[], None], timeout_seconds: float) -> None:
        self._require_all_running = require_all_running
        self._timeout_seconds = timeout_seconds
        self._deadline = time.monotonic() + timeout_seconds

    def wait(self, what: str, is_met: Callable[[], bool]) -> None:
        """Wait until a condition holds; a connection that fails counts as not yet.

        Raises:
            SandboxError: a program has ended, or the time is over (exit code 9).
        """
        while not _holds(is_met):
            self._require_all_running()
            if time.monotonic() > self._deadline:
                message = f"still without {what} after {self._timeout_seconds:.0f} s"
                raise SandboxError(
                    message,
                    remedy="see 'holdfast sandbox logs', and whether the machine is very busy",
                    exit_code=ExitCode.TIMEOUT,
                )
            time.sleep(POLL_SECONDS)


def _holds(is_met: Callable[[], bool]) -> bool:
    try:
        return is_met()
    except (OSError, http.client.HTTPException):
        return False


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    says_ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    # The controller takes this taint away a moment later; before that no pod is scheduled.
    taints = [taint["key"] for taint in node["spec"].get("taints", [])]
    return says_ready and _NOT_READY_TAINT not in taints


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
    programs = tuple(_program_status(program.name, record) for program in programs_of(record))
    state, reason = _judge(place, record, programs)
    url = api_address(record.ports.api_server)
    return SandboxStatus(place, state, reason, url, programs)


def is_fit_for_use(place: SandboxPaths, record: SandboxRecord) -> bool:
    """Whether every program runs and the API server says that it is ready."""
    are_running = (
        program.name in record.processes and is_running(record.processes[program.name])
        for program in programs_of(record)
    )
    return all(are_running) and _answers(place, record)


def _program_status(name: str, record: SandboxRecord) -> ProgramStatus:
    identity = record.processes.get(name)
    if identity is None:
        return ProgramStatus(name, 0, is_running=False, resident_bytes=0)
    # A node is many programs in one: all of them count.
    measure = resident_bytes_of_tree if name == NODE.name else resident_bytes
    memory = measure(identity)
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
        with SandboxApiClient(place, record.ports.api_server, READY_TIMEOUT_SECONDS) as client:
            return client.is_ready()
    except (OSError, http.client.HTTPException):
        return False
