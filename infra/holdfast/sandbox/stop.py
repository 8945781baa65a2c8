"""End a sandbox's programs: exactly those, in order, and not before each is gone.

The order matters: an API server that loses its etcd never ends by itself, and an etcd that outlives
the stop removes a file of the next one in the same folder half an hour before that one needs it.
"""

import signal

from holdfast.errors import SandboxError
from holdfast.sandbox.launch import TOKEN_VARIABLE, process_token
from holdfast.sandbox.process import (
    ProcessIdentity,
    find_by_environment,
    is_running,
    send_signal,
    wait_until_gone,
)
from holdfast.sandbox.programs import API_SERVER, ETCD, PROGRAMS, Program
from holdfast.sandbox.record import SandboxRecord

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
    for program in reversed(PROGRAMS):
        # Without its etcd an API server never ends by itself: asking it would only cost time.
        is_pointless = program is API_SERVER and not has_database
        for process in _processes_of(program, record):
            _stop(process, program, is_urgent=is_urgent or is_pointless)
            count += 1
    return count


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
