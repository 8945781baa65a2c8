"""Whose lock it is, and what can be said of the process that wrote it."""

import getpass
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from holdfast.adapters.engine.backend import lock_holder, processes
from holdfast.adapters.engine.backend.lock_holder import (
    Life,
    LockHolder,
    caller_name,
    locked_error,
    own_lock,
    read_lock,
    worst_of,
)
from holdfast.adapters.engine.backend.processes import forget_engine, note_engine, pid_namespace
from holdfast.errors import ExitCode

HERE = socket.gethostname()
NOBODY = 2**22 + 1
"""No process has this number: it is beyond the most that Linux gives out."""

MACHINE, CONTAINER = "pid:[4026531836]", "pid:[4026532177]"
BOOT = "7490ac2e-f0b2-40ed-b9e1-3dadbec16672"
ENGINE, SHELL = "/usr/bin/pulumi", "/usr/bin/bash"

LOCKED = """\
error: the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end or \
delete the lock file with `pulumi cancel`.
  s3://state/.pulumi/locks/organization/p/dev/1.json: created by ann@box (pid 2548) at \
2026-11-21T18:12:36Z
  s3://state/.pulumi/locks/organization/p/dev/2.json: created by a b@other (pid 7) at \
2026-11-21T18:12:40Z
"""


def ours(pid: int) -> LockHolder:
    """A holder in the PID namespace of this process."""
    return LockHolder(pid=pid, username="ann", hostname=HERE, namespace=pid_namespace())


def test_a_lock_says_who_holds_it_and_since_when(tmp_path: Path) -> None:
    file = tmp_path / "lock.json"
    said = {"pid": 12, "username": "ann", "hostname": "ci-7", "timestamp": "2026-11-21T01:02:03Z"}
    file.write_text(json.dumps(said))

    holder = read_lock(file)

    assert str(holder) == "ann@ci-7 (process 12) since 2026-11-21T01:02:03Z"


def test_a_lock_that_is_gone_by_now_has_no_holder(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "gone.json") is None


def test_our_own_lock_says_in_which_namespace_its_number_counts(tmp_path: Path) -> None:
    (tmp_path / "lock.json").write_bytes(own_lock())

    holder = read_lock(tmp_path / "lock.json")

    assert holder is not None
    assert (holder.pid, holder.hostname) == (os.getpid(), HERE)
    assert holder.namespace == pid_namespace()
    written = json.loads(own_lock())
    assert written.keys() == {"pid", "username", "hostname", "timestamp", "pidNamespace"}


@pytest.mark.parametrize(
    ("holder", "life"),
    [
        pytest.param(ours(os.getpid()), Life.RUNS, id="it-runs"),
        pytest.param(ours(NOBODY), Life.ENDED, id="there-is-no-such-process"),
        pytest.param(LockHolder(pid=NOBODY, hostname="ci-7"), Life.UNKNOWN, id="another-machine"),
        pytest.param(LockHolder(file="x.json"), Life.UNKNOWN, id="the-file-does-not-say"),
        pytest.param(LockHolder(update="update 12"), Life.UNKNOWN, id="an-update-of-a-service"),
    ],
)
def test_a_holder_has_ended_only_where_that_can_be_seen(holder: LockHolder, life: Life) -> None:
    assert holder.life is life
    assert holder.has_ended is (life is Life.ENDED)


def test_a_number_that_another_program_has_by_now_is_not_the_holder() -> None:
    with subprocess.Popen(["sleep", "60"]) as another:
        try:
            assert ours(another.pid).has_ended
        finally:
            another.kill()


def test_a_holder_that_was_killed_and_not_yet_reaped_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as killed:
        holder = ours(killed.pid)
        killed.kill()
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)

        assert holder.has_ended


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what this process sees below /proc: its namespace, and programs by their numbers."""

    def seen(namespace: str, *processes: tuple[str, str]) -> None:
        (tmp_path / "sys/kernel/random").mkdir(parents=True)
        (tmp_path / "sys/kernel/random/boot_id").write_text(f"{BOOT}\n")
        (tmp_path / "self/ns").mkdir(parents=True)
        (tmp_path / "self/ns/pid").symlink_to(namespace)
        for numbers, program in (("1", "/sbin/init"), *processes):
            folder = tmp_path / numbers.split()[0]
            folder.mkdir()
            (folder / "status").write_text(f"Name:\tx\nNSpid:\t{numbers}\nThreads:\t1\n")
            (folder / "stat").write_text(f"{numbers.split()[0]} (x) S 1 1 1")
            (folder / "exe").symlink_to(program)

    monkeypatch.setattr(processes, "_PROCESSES", tmp_path)
    return seen


def of_engine(hostname: str = HERE) -> LockHolder:
    """A lock as the engine writes it: without a namespace."""
    return LockHolder(pid=7, username="ann", hostname=hostname)


def test_from_the_machine_itself_a_lock_of_the_engine_is_judged(
    machine: Callable[..., None],
) -> None:
    machine(MACHINE, ("7", SHELL), ("12", ENGINE))

    assert of_engine().has_ended


def test_the_machine_sees_a_holder_that_lives_in_a_container(machine: Callable[..., None]) -> None:
    machine(MACHINE, ("31 7", ENGINE))

    assert of_engine().life is Life.RUNS
    assert of_engine().remedy("dev") == "wait for that run to end"


def test_a_container_does_not_see_whether_a_lock_of_the_engine_lives(
    machine: Callable[..., None],
) -> None:
    """As with `--network host`: the name of the host, and numbers of its own."""
    machine(CONTAINER, ("7", SHELL))

    assert of_engine().life is Life.UNKNOWN
    assert of_engine().remedy("dev") == (
        "wait for that run to end; if it is dead, which cannot be seen from here, run "
        "'pulumi cancel -s dev'"
    )


@pytest.mark.parametrize(
    ("namespace", "life"),
    [
        pytest.param(f"{BOOT}/{CONTAINER}", Life.ENDED, id="this-container"),
        pytest.param(f"{BOOT}/pid:[4026539999]", Life.UNKNOWN, id="another-container"),
        pytest.param(f"another-start/{CONTAINER}", Life.UNKNOWN, id="the-same-number-elsewhere"),
    ],
)
def test_a_container_judges_locks_of_its_own_namespace(
    machine: Callable[..., None], namespace: str, life: Life
) -> None:
    machine(CONTAINER)

    assert LockHolder(pid=NOBODY, hostname=HERE, namespace=namespace).life is life


def locked_by_engine(pid: int, seconds_after_start: float) -> LockHolder:
    """A lock as the engine writes it, so long after the engine was started."""
    locked = datetime.now(UTC) + timedelta(seconds=seconds_after_start)
    return LockHolder(pid=pid, hostname=HERE, timestamp=locked.isoformat())


def test_a_container_judges_the_lock_of_an_engine_that_holdfast_started_in_it(
    machine: Callable[..., None],
) -> None:
    machine(CONTAINER)
    note_engine(NOBODY)

    assert locked_by_engine(NOBODY, 3).has_ended
    assert locked_by_engine(NOBODY - 1, 3).life is Life.UNKNOWN, "another engine's"
    assert locked_by_engine(NOBODY, -60).life is Life.UNKNOWN, "locked before it was started"
    assert locked_by_engine(NOBODY, 3600).life is Life.UNKNOWN, "locked by a later process"


def test_an_engine_that_was_started_in_another_container_is_not_judged(
    machine: Callable[..., None], tmp_path: Path
) -> None:
    machine(CONTAINER)
    note_engine(NOBODY)
    (tmp_path / "self/ns/pid").unlink()
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026539999]")

    assert locked_by_engine(NOBODY, 3).life is Life.UNKNOWN


def test_of_two_engines_with_one_number_neither_is_judged(
    machine: Callable[..., None], tmp_path: Path
) -> None:
    machine(CONTAINER)
    note_engine(NOBODY)
    (tmp_path / "self/ns/pid").unlink()
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026539999]")
    note_engine(NOBODY)

    assert locked_by_engine(NOBODY, 3).life is Life.UNKNOWN


def test_an_engine_that_ended_in_order_is_forgotten(machine: Callable[..., None]) -> None:
    machine(CONTAINER)
    note_engine(NOBODY)
    forget_engine(NOBODY)

    assert locked_by_engine(NOBODY, 3).life is Life.UNKNOWN


def test_after_a_power_failure_the_machine_judges_what_it_locked_before(
    machine: Callable[..., None],
) -> None:
    machine(MACHINE)

    assert LockHolder(pid=7, hostname=HERE, namespace=f"earlier/{MACHINE}").has_ended


def test_a_name_that_every_machine_has_names_none(
    machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(MACHINE)
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")

    assert of_engine("localhost").life is Life.UNKNOWN


def test_where_processes_are_hidden_none_is_called_dead(
    machine: Callable[..., None], tmp_path: Path
) -> None:
    machine(MACHINE)
    (tmp_path / "1" / "status").unlink()

    assert of_engine().life is Life.UNKNOWN


@pytest.mark.parametrize(
    ("holder", "text"),
    [
        pytest.param(
            ours(NOBODY),
            f"stack dev is locked by ann@{HERE} (process {NOBODY}); that process has ended: run "
            "'holdfast up -s dev --recover'",
            id="a-dead-holder",
        ),
        pytest.param(
            LockHolder(pid=7, username="ann", hostname="ci-7"),
            "stack dev is locked by ann@ci-7 (process 7); wait for that run to end; if it is dead, "
            "which can only be seen on ci-7, run 'pulumi cancel -s dev'",
            id="another-machine",
        ),
        pytest.param(
            LockHolder(file="/s/x.json"),
            "stack dev is locked by an unknown process: /s/x.json does not say who; if no run is "
            "changing the stack, remove /s/x.json",
            id="unreadable",
        ),
        pytest.param(
            LockHolder(update="update 12", timestamp="2026-11-21T18:12:36Z"),
            "stack dev is locked by update 12 since 2026-11-21T18:12:36Z; wait for it to end; if "
            "it is dead, run 'pulumi cancel -s dev'",
            id="a-service",
        ),
    ],
)
def test_a_locked_stack_is_refused_with_what_helps(holder: LockHolder, text: str) -> None:
    error = lock_holder.StackLockedError("dev", (holder,))

    assert str(error) == text
    assert error.exit_code is ExitCode.ERROR


def test_of_several_holders_the_one_that_may_still_run_decides() -> None:
    elsewhere = LockHolder(pid=7, hostname="ci-7")

    assert worst_of((ours(NOBODY), elsewhere)) == elsewhere


def test_the_holders_are_those_that_the_engine_names() -> None:
    error = locked_error(LOCKED, "dev")

    assert error is not None
    first, second = error.holders
    assert msgspec.structs.astuple(first)[:5] == (
        "s3://state/.pulumi/locks/organization/p/dev/1.json",
        2548,
        "ann",
        "box",
        "2026-11-21T18:12:36Z",
    )
    assert (second.username, second.hostname, second.pid) == ("a b", "other", 7)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(
            "error: the stack is currently locked by 1 lock(s), in words of another version",
            "locked by an unknown process: the lock does not say who",
            id="unreadable",
        ),
        pytest.param(
            "error: [409] Conflict: Another update is currently in progress.\nTo learn more about "
            "possible reasons and resolution, visit https://www.pulumi.com/docs/",
            "locked by another update; wait for it to end; if it is dead, run 'pulumi cancel",
            id="of-the-service",
        ),
    ],
)
def test_a_refusal_that_names_no_holder_is_one(text: str, says: str) -> None:
    assert says in str(locked_error(text, "dev"))


def test_no_other_text_means_a_lock() -> None:
    assert locked_error("error: no stack named 'dev' found", "dev") is None


@pytest.mark.parametrize("refusal", [KeyError("uid not found"), OSError("no username set")])
def test_who_has_no_account_is_called_by_number(
    monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    def refuse() -> str:
        raise refusal

    monkeypatch.setattr(getpass, "getuser", refuse)

    assert caller_name() == f"uid-{os.getuid()}"
    assert json.loads(own_lock())["username"] == f"uid-{os.getuid()}"
