"""Real processes, tiny ones: what matters here is what the operating system does."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.adapters.engine.run import process
from holdfast.adapters.engine.run.process import (
    Finished,
    StopReason,
    run_in_session,
    session_members,
)


class Run:
    """Runs a Python script and keeps its lines; the first line is the process id."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self.started = threading.Event()

    def __call__(
        self,
        script: str,
        timeout_seconds: float | None = None,
        stop_reason: StopReason | None = None,
    ) -> Finished:
        source = (
            f"import os, signal, subprocess, sys, time\nprint(os.getpid(), flush=True)\n{script}"
        )
        return run_in_session(
            [sys.executable, "-c", source],
            folder=self.folder,
            variables=dict(os.environ),
            on_line=self._keep,
            timeout_seconds=timeout_seconds,
            stop_reason=stop_reason,
        )

    def reason_once_started(self) -> str:
        return "the cluster refuses its pods" if self.started.is_set() else ""

    @property
    def session(self) -> int:
        return int(self.lines[0])

    def _keep(self, line: bytes) -> None:
        self.lines.append(line.decode())
        if len(self.lines) > 1:
            self.started.set()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.fixture
def signalled(run: Run) -> Iterator[list[int]]:
    """Sends us the signals in the list, one every 0.1 s, once the script has printed a line."""
    numbers: list[int] = []

    def send() -> None:
        if run.started.wait(10):
            for number in numbers:
                os.kill(os.getpid(), number)
                time.sleep(0.1)

    thread = threading.Thread(target=send)
    thread.start()
    yield numbers
    run.started.set()
    thread.join()


def test_hands_over_each_line_and_the_exit_code(run: Run) -> None:
    finished = run("print('one\\n\\ntwo', end=''); sys.stderr.write('oh'); sys.exit(3)")

    assert run.lines[1:] == ["one", "", "two"]
    assert (finished.exit_code, finished.errors) == (3, "oh")
    assert not finished.was_interrupted
    assert not finished.timed_out
    assert finished.leftovers == ()


def test_hands_over_a_line_longer_than_a_pipe(run: Run) -> None:
    run("print('x' * 1_000_000)")

    assert len(run.lines[1]) == 1_000_000


def test_keeps_the_end_of_a_long_error_text(run: Run) -> None:
    finished = run("sys.stderr.write('x' * 200_000 + 'the end')")

    assert finished.errors.endswith("xthe end")
    assert len(finished.errors) == 65_536


def test_runs_in_a_session_of_its_own(run: Run) -> None:
    run("print(os.getsid(0))")

    assert run.lines[1] == str(run.session) != str(os.getsid(0))


@pytest.mark.parametrize(
    "leaves",
    [
        pytest.param("", id="in-its-group"),
        pytest.param(", process_group=0", id="in-a-group-of-its-own"),
    ],
)
def test_ends_what_the_program_left_behind(run: Run, leaves: str) -> None:
    finished = run(f"subprocess.Popen(['sleep', '300']{leaves})")

    assert len(finished.leftovers) == 1
    assert session_members(run.session) == ()
    assert finished.seconds < 10


def test_kills_what_does_not_end_when_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.adapters.engine.run.process.TERMINATE_SECONDS", 0.3)

    finished = run(
        "child = subprocess.Popen([sys.executable, '-c', 'import signal, time;"
        'signal.signal(signal.SIGTERM, signal.SIG_IGN); print("deaf", flush=True);'
        "time.sleep(300)'], stdout=subprocess.PIPE)\nchild.stdout.readline()"
    )

    assert len(finished.leftovers) == 1
    assert session_members(run.session) == ()


def test_never_touches_a_process_of_another_session(run: Run) -> None:
    run("p = subprocess.Popen(['sleep', '300'], start_new_session=True); print(p.pid)")
    stranger = int(run.lines[1])

    try:
        os.kill(stranger, 0)  # raises when it is gone
    finally:
        os.kill(stranger, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_passes_one_signal_on_and_lets_the_program_finish(
    run: Run, signalled: list[int], number: int
) -> None:
    signalled.append(number)

    finished = run(
        "try:\n  print('ready', flush=True); time.sleep(30)\n"
        "except KeyboardInterrupt:\n  time.sleep(0.3); print('saved'); sys.exit(1)"
    )

    assert run.lines[-1] == "saved"
    assert finished.was_interrupted
    assert finished.exit_code == 1


def test_a_second_signal_ends_a_program_that_lingers(
    run: Run, signalled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "HARD_STOP_SECONDS", 0.2)
    signalled.extend([signal.SIGINT, signal.SIGTERM])  # two of a kind might arrive as one

    finished = run(
        "signal.signal(signal.SIGINT, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
    )

    assert finished.exit_code == -signal.SIGKILL
    assert finished.was_interrupted
    assert finished.seconds < 10


def test_gives_the_handlers_of_the_caller_back(run: Run) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    run("pass")

    assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


def test_stops_an_overdue_program_gently(run: Run) -> None:
    finished = run(
        "try:\n  time.sleep(30)\nexcept KeyboardInterrupt:\n  print('saved')", timeout_seconds=0.5
    )

    assert run.lines[-1] == "saved"
    assert finished.timed_out
    assert not finished.was_interrupted


def test_kills_an_overdue_program_that_does_not_stop(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP_SECONDS", 0.2)

    finished = run(
        "signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)", timeout_seconds=0.5
    )

    assert finished.exit_code == -signal.SIGKILL
    assert finished.timed_out


def test_stops_a_program_gently_when_there_is_a_reason(run: Run) -> None:
    finished = run(
        "try:\n  print('works', flush=True)\n  time.sleep(30)\n"
        "except KeyboardInterrupt:\n  print('saved')",
        stop_reason=run.reason_once_started,
    )

    assert run.lines[-1] == "saved"
    assert finished.stop_reason == "the cluster refuses its pods"
    assert not finished.timed_out
    assert not finished.was_interrupted


def test_kills_a_program_that_does_not_stop_for_a_reason(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP_SECONDS", 0.2)

    finished = run(
        "signal.signal(signal.SIGINT, signal.SIG_IGN); print('works', flush=True); time.sleep(60)",
        stop_reason=run.reason_once_started,
    )

    assert finished.exit_code == -signal.SIGKILL
    assert finished.stop_reason == "the cluster refuses its pods"


def test_leaves_nothing_running_when_the_reader_fails(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = run._keep

    def fail(line: bytes) -> None:
        keep(line)
        raise ZeroDivisionError

    monkeypatch.setattr(run, "_keep", fail)

    with pytest.raises(ZeroDivisionError):
        run("time.sleep(60)")

    assert session_members(run.session) == ()


def test_works_outside_the_main_thread(run: Run) -> None:
    results: list[Finished] = []
    thread = threading.Thread(target=lambda: results.append(run("print('fine')")))
    thread.start()
    thread.join()

    assert results[0].exit_code == 0
