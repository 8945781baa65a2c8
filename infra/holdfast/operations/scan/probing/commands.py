"""Probes that run commands: on this machine, without a shell, and only when a user asks for it."""

import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from holdfast.drift.probes.answers import CommandProbe, judge_output
from holdfast.drift.probes.outcome import Outcome, Subject, unknown

LARGEST_OUTPUT_BYTES: Final = 1024 * 1024


def probe_command(subject: Subject, probe: CommandProbe, folder: Path) -> Outcome:
    """Run a command in a folder, and compare.

    Its error output is not shown: it may hold what it was given, such as a connection string.
    """
    what = f"probe {probe.name}"
    try:
        output, code = _run(probe, folder)
    except FileNotFoundError:
        return unknown(subject, what, f"there is no program {probe.command[0]!r} here")
    except OSError as error:
        return unknown(subject, what, f"{probe.command[0]}: {error.strerror or error}")
    if output is None:
        return unknown(subject, what, f"no answer within {probe.timeout_seconds:g} s")
    if len(output) > LARGEST_OUTPUT_BYTES:
        return unknown(subject, what, f"it prints more than {LARGEST_OUTPUT_BYTES} bytes")
    if code:
        return unknown(subject, what, f"{probe.command[0]} ended with exit code {code}")
    return judge_output(subject, probe, output)


def _run(probe: CommandProbe, folder: Path) -> tuple[bytes | None, int]:
    """Output (None when it took too long) and exit code; ends everything that was started."""
    with subprocess.Popen(
        probe.command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None  # noqa: S101  (a pipe was asked for)
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            _kill_session(process.pid)

        timer = threading.Timer(probe.timeout_seconds, end)
        timer.start()
        try:
            # No more than is wanted: a command that never stops printing fills no memory.
            output = process.stdout.read(LARGEST_OUTPUT_BYTES + 1)
        finally:
            timer.cancel()
        if len(output) > LARGEST_OUTPUT_BYTES:
            _kill_session(process.pid)
        return (None if is_late.is_set() else output), process.wait()


def _kill_session(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
