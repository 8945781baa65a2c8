import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from holdfast.sandbox.process import (
    ProcessIdentity,
    find_by_environment,
    is_running,
    read_identity,
    resident_bytes,
    resident_bytes_of_tree,
    send_signal,
    wait_until_gone,
)


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "600"], env={"MARK": "sandbox-1/etcd"}) as process:
        yield process
        process.kill()


def identity_of(process: "subprocess.Popen[bytes]") -> ProcessIdentity:
    identity = read_identity(process.pid)
    assert identity is not None
    return identity


@pytest.mark.parametrize(
    "difference",
    [
        pytest.param({"start_ticks": 1}, id="number-given-again-later"),
        pytest.param({"executable": "/usr/bin/etcd"}, id="another-program"),
        pytest.param({"boot": "another"}, id="before-a-restart-of-the-machine"),
    ],
)
def test_never_signals_a_process_that_only_has_the_same_number(
    sleeper: "subprocess.Popen[bytes]", difference: dict[str, Any]
) -> None:
    stale = replace(identity_of(sleeper), **difference)

    assert not is_running(stale)
    assert not send_signal(stale, signal.SIGKILL)
    assert wait_until_gone(stale, timeout_seconds=0)
    assert resident_bytes(stale) == 0
    assert sleeper.poll() is None


def test_signals_exactly_the_process_it_knows(sleeper: "subprocess.Popen[bytes]") -> None:
    identity = identity_of(sleeper)
    assert resident_bytes(identity) > 0

    assert send_signal(identity, signal.SIGTERM)

    assert wait_until_gone(identity, timeout_seconds=10)
    # Not reaped yet, so a zombie: dead all the same.
    assert read_identity(sleeper.pid) is None
    assert sleeper.wait() == -signal.SIGTERM
    assert not send_signal(identity, signal.SIGTERM)


FIRST_THREAD_ENDS = """\
import ctypes, platform, sys, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("ready", flush=True)
sys.stdin.readline()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""


def test_a_process_is_not_gone_while_one_of_its_threads_holds_what_it_has_open() -> None:
    command = [sys.executable, "-c", FIRST_THREAD_ENDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdout.readline()
            identity = identity_of(process)
            process.stdin.write(b"\n")
            process.stdin.flush()
            while is_running(identity):
                time.sleep(0.01)

            assert not wait_until_gone(identity, timeout_seconds=0.1)
        finally:
            process.kill()
        assert wait_until_gone(identity, timeout_seconds=10)


def test_says_so_when_a_process_stays(sleeper: "subprocess.Popen[bytes]") -> None:
    assert not wait_until_gone(identity_of(sleeper), timeout_seconds=0)


def test_knows_no_process_where_there_is_none() -> None:
    beyond_every_limit = 2**30

    assert read_identity(beyond_every_limit) is None


def test_a_process_of_which_nothing_can_be_read_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.sandbox.process._PROC", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7/stat").write_text("")
    (tmp_path / "7/exe").symlink_to(sys.executable)

    assert read_identity(7) is None


def test_reads_names_with_brackets_and_blanks() -> None:
    # The name in /proc/PID/stat is the thread's; a shell can be told to take an odd one.
    with subprocess.Popen(["sh", "-c", "echo 'a) R (b' > /proc/$$/comm; exec sleep 600"]) as odd:
        try:
            identity = identity_of(odd)
            assert identity.pid == odd.pid
            assert identity.start_ticks > 0
        finally:
            odd.kill()


def test_finds_what_was_started_with_a_variable(sleeper: "subprocess.Popen[bytes]") -> None:
    assert [found.pid for found in find_by_environment("MARK", "sandbox-1/etcd")] == [sleeper.pid]
    assert find_by_environment("MARK", "sandbox-1") == ()
    assert os.getpid() not in {found.pid for found in find_by_environment("MARK", "")}


def test_memory_of_a_tree_counts_what_descends_from_its_root() -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as process:
        identity = read_identity(process.pid)
        assert identity is not None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text():
            assert process.poll() is None

        assert resident_bytes_of_tree(identity) > resident_bytes(identity) > 0

        process.communicate(b"\n")
    assert resident_bytes_of_tree(identity) == 0
