"""What a command prints against what it printed when that was reviewed.

The way to look at what Holdfast has no words for: a database's schema and grants, the policy of a
bucket. Commands run on the machine of the scan, without a shell, and only when a user asks for it.
"""

import hashlib
import os
import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs, unknown
from holdfast.kube.paths import ItemKey

LARGEST_OUTPUT_BYTES: Final = 1024 * 1024


@dataclass(frozen=True)
class CommandProbe:
    """One command, and what it should print.

    Attributes:
        name: Name of the probe.
        command: Program and arguments.
        digest: `sha256:<64 hex digits>` over its standard output.
        reviewed: The output of which that is the digest; None when only the digest is kept.
        timeout_seconds: Longest run.
        severity: Of a finding.
    """

    name: str
    command: tuple[str, ...]
    digest: str
    reviewed: str | None = None
    timeout_seconds: float = 30.0
    severity: Severity = Severity.HIGH


def digest_of(output: bytes) -> str:
    """`sha256:<64 hex digits>`, as `COMMAND | sha256sum` prints them."""
    return f"sha256:{hashlib.sha256(output).hexdigest()}"


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


def judge_output(subject: Subject, probe: CommandProbe, output: bytes) -> Outcome:
    """Compare an output with the reviewed one. Pure.

    With the reviewed text at hand the finding shows both texts, else both digests.
    """
    found = digest_of(output)
    if found == probe.digest:
        return as_declared()
    path = (ItemKey((("name", probe.name),)),)
    if probe.reviewed is None:
        return differs(subject, (*path, "digest"), probe.digest, found, probe.severity)
    text = output.decode("utf-8", "replace")
    return differs(subject, (*path, "output"), probe.reviewed, text, probe.severity)


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
