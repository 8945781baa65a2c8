"""Bring a sandbox up and down: the only module that changes one, always under its lock.

Every interruption of a start becomes a KeyboardInterrupt, so that one way of undoing serves.
"""

import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from holdfast.adapters.engine.run.toolchain import find_program
from holdfast.adapters.files import make_private_directory
from holdfast.errors import SandboxError
from holdfast.sandbox.health import is_fit_for_use
from holdfast.sandbox.launch import Launcher, prepare_files, start_programs, stop_programs
from holdfast.sandbox.node.requirements import require_node
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.programs import NODE, PROGRAMS
from holdfast.sandbox.record import SandboxRecord, exclusive, read_record, write_record
from holdfast.sandbox.requirements import (
    busy_ports,
    choose_ports,
    prepare_folder,
    require_linux,
    require_resources,
)

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Raise KeyboardInterrupt also when a CI job is cancelled or a terminal is closed."""
    with _handled_by(signal.default_int_handler):
        yield


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Finish what must not be left unfinished."""
    with _handled_by(lambda number, frame: None):
        yield


@contextmanager
def _handled_by(handler: "signal._HANDLER") -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals, and only it receives them
        return
    # What `nohup` or a background shell has made ignored stays ignored.
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous or signal.SIG_DFL)


Report = Callable[[str], None]
"""Takes one line of progress."""


class SandboxOutcome(StrEnum):
    """What `up` or `down` did."""

    STARTED = "started"
    RESUMED = "started again with its data"
    REPAIRED = "repaired, with its data"
    ALREADY_RUNNING = "already running"
    STOPPED = "stopped, data kept"
    REMOVED = "stopped and removed"
    ABSENT = "there was none"


def up(place: SandboxPaths, report: Report, *, with_node: bool = False) -> SandboxOutcome:
    """Make a sandbox run, whatever it is now; nothing is done when it is fit for use.

    With `with_node` a real node runs beside it from now on, also when it is brought up without
    that later; a sandbox that has none yet is started again with its data.

    A sandbox of which a program has ended is stopped in order and started again with its data. A
    start that fails or is interrupted leaves nothing running.

    Raises:
        SandboxError: it cannot be started; logs stay for a look. Exit code 2 when no real node can
            run on this machine.
        ToolchainError: a program is missing.
    """
    require_linux()
    prepare_folder(place)
    with _file_errors_explained(place), exclusive(place, report):
        record = read_record(place)
        has_node = with_node or (record is not None and record.has_node)
        if record is not None and record.has_node == has_node and is_fit_for_use(place, record):
            return SandboxOutcome.ALREADY_RUNNING
        executables = {program.name: find_program(program.name) for program in PROGRAMS}
        if has_node:
            require_node(place)
            executables[NODE.name] = Path(sys.executable)
        outcome = SandboxOutcome.STARTED if record is None else SandboxOutcome.RESUMED
        if record is not None and stop_programs(record):
            report(f"stopped what was left of sandbox {place.name}")
            outcome = SandboxOutcome.REPAIRED
        require_resources(place)
        with interrupts_raised(), _undone_on_failure(place, is_new=record is None):
            started = _take_ports(place, record, report, has_node=has_node)
            prepare_files(place, started)
            report(f"starting sandbox {place.name}: {', '.join(executables)} ...")
            start_programs(place, Launcher(place, started, executables))
    return outcome


def down(place: SandboxPaths, report: Report, *, keeps_data: bool) -> SandboxOutcome:
    """Stop a sandbox and, unless its data are to be kept, remove its folder.

    Raises:
        SandboxError: a process does not end, or the folder cannot be removed.
    """
    require_linux()
    if not place.directory.parent.exists():
        return SandboxOutcome.ABSENT
    prepare_folder(place)
    with _file_errors_explained(place), exclusive(place, report):
        record = read_record(place)
        if record is None:
            return SandboxOutcome.ABSENT
        report(f"stopping sandbox {place.name} ...")
        stop_programs(record)
        if keeps_data:
            return SandboxOutcome.STOPPED
        _remove_folder(place)
    return SandboxOutcome.REMOVED


@contextmanager
def _file_errors_explained(place: SandboxPaths) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or place.directory
        raise SandboxError(
            f"{where} cannot be written: {error.strerror}",
            remedy="free some space, correct the rights, or set HOLDFAST_STATE to another folder",
        ) from error


@contextmanager
def _undone_on_failure(place: SandboxPaths, *, is_new: bool) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        with interrupts_ignored():
            if record := read_record(place):
                stop_programs(record, is_urgent=True)
            # After a failure the logs are wanted; after an interrupted first start nothing is.
            if is_new and isinstance(error, KeyboardInterrupt):
                _remove_folder(place)
        raise


def _take_ports(
    place: SandboxPaths, record: SandboxRecord | None, report: Report, *, has_node: bool
) -> SandboxRecord:
    if record is None:
        make_private_directory(place.directory)
        taken = SandboxRecord(token=secrets.token_hex(16), ports=choose_ports())
    elif busy := busy_ports(record.ports):
        report(f"port {busy[0]} is taken by now, choosing others: kubeconfigs are rewritten")
        taken = replace(record, ports=choose_ports())
    else:
        taken = record
    taken = replace(taken, has_node=has_node)
    write_record(place, taken)
    return taken


def _remove_folder(place: SandboxPaths) -> None:
    # Renamed first: a removal that is cut short must not leave half a sandbox under its name.
    leftover = place.directory.with_name(f".{place.name}.removed")
    try:
        if leftover.exists():
            shutil.rmtree(leftover)
        if place.directory.exists():
            place.directory.rename(leftover)
            shutil.rmtree(leftover)
    except OSError as error:
        message = f"the folder of sandbox {place.name} could not be removed: {error}"
        raise SandboxError(message, remedy=f"remove {leftover}") from error
