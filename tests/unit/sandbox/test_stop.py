import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from holdfast.sandbox.launch import stop_programs
from holdfast.sandbox.process import ProcessIdentity, read_identity
from holdfast.sandbox.record import TOKEN_VARIABLE, Ports, SandboxRecord

# A token of this process alone: programs are found by it, and other tests run beside these.
TOKEN = secrets.token_hex(8)
RECORD = SandboxRecord(token=TOKEN, ports=Ports(1, 2, 3))


STAND_IN = """
import pathlib, signal, sys
def end(*_):
    with pathlib.Path(sys.argv[2]).open("a") as notes:
        notes.write(sys.argv[1] + " ")
    sys.exit()
signal.signal(signal.SIGTERM, end)
print(flush=True)
signal.pause()
"""


class Processes:
    """Scripts in the place of the real programs; each notes when it is asked to end."""

    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes"
        self.notes.touch()
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, mark: str = "unrelated") -> ProcessIdentity:
        command = [sys.executable, "-S", "-c", STAND_IN, name, str(self.notes)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env={TOKEN_VARIABLE: mark})
        self.running.append(process)
        assert process.stdout is not None
        process.stdout.readline()  # from here on it handles the signal
        identity = read_identity(process.pid)
        assert identity is not None
        return identity

    def asked_to_end(self) -> list[str]:
        return self.notes.read_text().split()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path)
    yield made
    for process in made.running:
        process.kill()
        process.communicate()


def test_ends_programs_in_order_etcd_last(processes: Processes) -> None:
    names = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
    record = RECORD
    for name in names:
        record = record.with_process(name, processes.start(name))

    assert stop_programs(record) == 5

    assert processes.asked_to_end() == list(reversed(names))


def test_leaves_a_process_alone_that_only_has_a_recorded_number(processes: Processes) -> None:
    foreign = processes.start("somebody-else")
    record = RECORD.with_process("etcd", replace(foreign, start_ticks=foreign.start_ticks - 1))

    assert stop_programs(record) == 0

    assert processes.asked_to_end() == []
    assert processes.running[0].poll() is None


def test_finds_what_was_started_but_never_recorded(processes: Processes) -> None:
    processes.start("kwok", mark=f"{TOKEN}/kwok")
    processes.start("other-sandbox", mark=f"{TOKEN}-of-another/kwok")

    assert stop_programs(RECORD) == 1

    assert processes.asked_to_end() == ["kwok"]


def test_does_not_ask_when_in_a_hurry(processes: Processes) -> None:
    record = RECORD.with_process("etcd", processes.start("etcd"))

    assert stop_programs(record, is_urgent=True) == 1

    assert processes.asked_to_end() == []


def test_does_not_ask_an_api_server_without_etcd(processes: Processes) -> None:
    record = RECORD.with_process("kube-apiserver", processes.start("kube-apiserver"))

    assert stop_programs(record) == 1

    assert processes.asked_to_end() == []
