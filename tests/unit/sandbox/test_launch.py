import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.errors import SandboxError
from holdfast.sandbox.launch import Launcher, process_token, stop_programs
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import find_by_environment, is_running
from holdfast.sandbox.programs import ETCD
from holdfast.sandbox.record import Ports, SandboxRecord, read_record

RUN = secrets.token_hex(8)


def record_of(place: SandboxPaths) -> SandboxRecord:
    """A record whose token is one test's alone: processes are found by it, also those that end."""
    return SandboxRecord(token=f"{RUN}-{place.directory.name}", ports=Ports(1, 2, 3))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[SandboxPaths]:
    made = SandboxPaths("a", tmp_path)
    (tmp_path / "logs").mkdir()
    yield made
    stop_programs(record_of(made), is_urgent=True)


def launcher(place: SandboxPaths, script: str) -> Launcher:
    program = place.directory / "etcd"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Launcher(place, record_of(place), {"etcd": program})


def watch(starting: Launcher) -> None:
    starting.launch(ETCD)
    while True:
        starting.require_all_running()


def test_writes_down_what_it_started_before_anything_else(place: SandboxPaths) -> None:
    starting = launcher(place, "sleep 600")
    starting.launch(ETCD)

    record = read_record(place)
    assert record is not None
    assert is_running(record.processes["etcd"])
    starting.release()


def test_knows_a_script_that_becomes_the_real_program(place: SandboxPaths) -> None:
    starting = launcher(place, "echo; exec sleep 600")
    starting.launch(ETCD)
    while not Path(f"/proc/{starting.record.processes['etcd'].pid}/exe").samefile("/bin/sleep"):
        starting.require_all_running()

    starting.release()

    record = read_record(place)
    assert record is not None
    assert is_running(record.processes["etcd"])
    (found,) = find_by_environment("HOLDFAST_SANDBOX_TOKEN", process_token(record_of(place), ETCD))
    assert found.pid == record.processes["etcd"].pid


def test_a_program_gets_a_session_of_its_own_and_no_more_variables_than_it_needs(
    place: SandboxPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "private")
    starting = launcher(place, "env; pwd; exec sleep 600")
    starting.launch(ETCD)

    pid = starting.record.processes["etcd"].pid
    assert os.getsid(pid) == pid
    while "\n/" not in (said := place.log("etcd").read_text()):
        starting.require_all_running()
    starting.release()
    assert "AWS_SECRET_ACCESS_KEY" not in said
    assert f"HOME={place.directory}\n" in said
    assert f"\n{place.directory}\n" in said


def test_reports_a_program_that_ends_with_its_code_and_last_words(place: SandboxPaths) -> None:
    starting = launcher(place, "seq 100; echo address already in use; sleep 0.1; exit 7")

    with pytest.raises(SandboxError) as caught:
        watch(starting)

    words = str(caught.value).splitlines()
    assert words[0].startswith("etcd ended with exit code 7 while starting")
    assert words[-1] == "  address already in use"
    assert len(words) == 7


def test_reports_a_program_that_cannot_be_run(place: SandboxPaths) -> None:
    starting = Launcher(place, record_of(place), {"etcd": place.directory})

    with pytest.raises(SandboxError, match="etcd could not be started: Permission denied"):
        starting.launch(ETCD)
