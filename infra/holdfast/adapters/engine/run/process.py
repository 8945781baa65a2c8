"""One run of a program in a session of its own: lines out, signals in, no process left behind.

Python component plugins, and everything after a kill, outlive the engine that started them. They
keep its session id, whatever their process group; no other process has it.
"""

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_PROCESSES = Path("/proc")
_GONE_POLL_SECONDS = 0.02
TERMINATE_SECONDS = 3.0
"""How long a process may take to end after SIGTERM before it is killed."""


def session_members(session: int) -> tuple[int, ...]:
    """Process ids of the living members of a session, its leader included; zombies have ended."""
    return tuple(pid for pid in _process_ids() if _is_member(pid, session))


def end_session(session: int) -> tuple[int, ...]:
    """End what is left of a session whose leader has ended: SIGTERM, a wait, SIGKILL.

    The leader must not have been reaped yet, so that no other process can have its id.

    Returns:
        Process ids that had to be ended; empty when the engine left nothing behind.
    """
    ended: set[int] = set()

    def send(number: signal.Signals) -> Callable[[], bool]:
        for pid in _others(session):
            ended.add(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return lambda: not _others(session)

    if not _wait_until(send(signal.SIGTERM), TERMINATE_SECONDS):
        _wait_until(send(signal.SIGKILL), TERMINATE_SECONDS)
    return tuple(sorted(ended))


def _others(session: int) -> tuple[int, ...]:
    return tuple(pid for pid in session_members(session) if pid != session)


def _wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_GONE_POLL_SECONDS)
    return True


def _process_ids() -> list[int]:
    if _PROCESSES.is_dir():
        return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit()]  # noqa: PTH208
    listed = subprocess.run(["ps", "-axo", "pid="], capture_output=True, text=True, check=True)
    return [int(line) for line in listed.stdout.split()]


def _is_member(pid: int, session: int) -> bool:
    try:
        if os.getsid(pid) != session:
            return False
        if not _PROCESSES.is_dir():
            return True
        # pid (name) state ...: the name may hold anything, even parentheses.
        state = (_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError, PermissionError):
        return False
    return state not in {"Z", "X"}


LineHandler = Callable[[bytes], None]
StopReason = Callable[[], str]
"""Why a run is to be stopped; empty while it may go on."""

STOP_SECONDS = 30.0
"""After a time-out: how long the engine may finish the steps in flight and save its state."""

HARD_STOP_SECONDS = 10.0
"""After a second signal: how long until the engine is killed."""

_POLL_SECONDS = 0.2
_CHUNK_BYTES = 1 << 16
_KEPT_ERROR_BYTES = 1 << 16
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended.

    Attributes:
        exit_code: Of the program; negative for a signal, as `subprocess` has it.
        errors: End of what it wrote to standard error, at most 64 KiB.
        was_interrupted: A signal to us was passed on to it.
        timed_out: It did not end in the time given.
        stop_reason: Why we stopped it; empty when we did not.
        leftovers: Processes it left behind, which have been ended.
        pid: Its process id, which may be another program's by now.
    """

    exit_code: int
    errors: str
    seconds: float
    was_interrupted: bool = False
    timed_out: bool = False
    stop_reason: str = ""
    leftovers: tuple[int, ...] = ()
    pid: int = 0


def run_in_session(  # noqa: PLR0913  (each is one setting of a run)
    command: Sequence[str | os.PathLike[str]],
    *,
    folder: Path,
    variables: Mapping[str, str],
    on_line: LineHandler,
    on_start: Callable[[int], None] | None = None,
    timeout_seconds: float | None = None,
    stop_reason: StopReason | None = None,
) -> Finished:
    """Run a program until it ends and pass on each line of its standard output.

    SIGINT, SIGTERM and SIGHUP that reach us are passed on as one SIGINT: the engine finishes the
    steps in flight, saves its state and ends. A second one ends it at once, and kills it when it
    lingers. A time-out does the same by itself. Signals are only caught in the main thread.

    Args:
        command: The program and its arguments.
        folder: Working directory.
        variables: The whole environment.
        on_line: Called with each line, without its newline; its exceptions end the run.
        on_start: Called with the process id.
        timeout_seconds: When to stop the run; default never.
        stop_reason: Asked five times a second; what it gives stops the run as a time-out does.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = started + timeout_seconds if timeout_seconds else None
    stop = _Stop(process.pid, deadline, stop_reason or (lambda: ""))
    try:
        if on_start is not None:
            on_start(process.pid)
        with _signals_to(stop):
            errors = _follow(process, on_line, stop)
    finally:
        leftovers = _end(process)
        exit_code = _reap(process)
    return Finished(
        exit_code=exit_code,
        errors=errors,
        seconds=time.monotonic() - started,
        was_interrupted=stop.signals > 0,
        timed_out=stop.timed_out,
        stop_reason=stop.reason,
        leftovers=leftovers,
        pid=process.pid,
    )


class _Stop:
    """When and how a run is stopped before it ends by itself."""

    def __init__(self, pid: int, deadline: float | None, ask_reason: StopReason) -> None:
        self.pid = pid
        self.signals = 0
        self.timed_out = False
        self.reason = ""
        self._deadline = deadline
        self._ask_reason = ask_reason

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Pass the first signal on; let the second one end the run soon."""
        self.signals += 1
        if self.signals > 1:
            self._deadline = time.monotonic() + HARD_STOP_SECONDS
            self.timed_out = False
        self._send(signal.SIGINT)

    def check_time(self) -> None:
        """Stop a run that is overdue, or has a reason to end: gently first, then for good."""
        is_ending = self.signals > 0 or self.timed_out or bool(self.reason)
        if not is_ending and (reason := self._ask_reason()):
            self.reason = reason
            self._stop_gently()
        if self._deadline is None or time.monotonic() < self._deadline:
            return
        if self.signals > 1 or self.timed_out or self.reason:
            self._send(signal.SIGKILL)
            self._deadline = None
        else:
            self.timed_out = True
            self._stop_gently()

    def _stop_gently(self) -> None:
        self._deadline = time.monotonic() + STOP_SECONDS
        self._send(signal.SIGINT)

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _follow(process: subprocess.Popen[bytes], on_line: LineHandler, stop: _Stop) -> str:
    """Read both streams until they end, or until the program has: what it left may hold them open.

    Returns:
        The end of standard error.
    """
    errors = bytearray()
    pending = bytearray()
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            assert stream is not None  # noqa: S101 - both are pipes, asked for above
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(_POLL_SECONDS)
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK_BYTES)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    errors += chunk
                    del errors[:-_KEPT_ERROR_BYTES]
                else:
                    pending += chunk
                    _hand_over_lines(pending, on_line)
            if not ready and _has_ended(process):
                break
            stop.check_time()
    if pending:
        on_line(bytes(pending))
    while not _has_ended(process):
        stop.check_time()
        time.sleep(_POLL_SECONDS / 10)
    return errors.decode(errors="replace")


def _hand_over_lines(pending: bytearray, on_line: LineHandler) -> None:
    end = pending.rfind(b"\n")
    if end < 0:
        return
    lines = bytes(pending[:end]).split(b"\n")
    del pending[: end + 1]
    for line in lines:
        on_line(line)


@contextmanager
def _signals_to(stop: _Stop) -> Iterator[None]:
    """Catch the signals that ask us to end; only the main thread may, others are not asked."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop.on_signal) for number in _FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(process: subprocess.Popen[bytes]) -> tuple[int, ...]:
    """End the program if it still runs, then what it left behind."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if _has_ended(process):
            break
        os.kill(process.pid, number)
        _wait(process, HARD_STOP_SECONDS)
    return end_session(process.pid)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.02)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program has ended; not reaped, so that its id stays its own."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, how) is not None


def _reap(process: subprocess.Popen[bytes]) -> int:
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    return process.wait()
