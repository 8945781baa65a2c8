"""Whose lock it is, and what can be said of whoever wrote it."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.lock_holder import LockHolder, read_lock
from holdfast.adapters.engine.state.interrupted import Interrupted

HERE = socket.gethostname()
NOBODY = 2**22 + 1
"""No process has this number: it is beyond the most that Linux gives out."""


def test_a_lock_says_who_holds_it_and_since_when(tmp_path: Path) -> None:
    file = tmp_path / "lock.json"
    said = {"pid": 12, "username": "ann", "hostname": "ci-7", "timestamp": "2026-11-21T01:02:03Z"}
    file.write_text(json.dumps(said))

    holder = read_lock(file)

    assert str(holder) == "ann@ci-7 (process 12) since 2026-11-21T01:02:03Z"


def test_a_lock_that_is_gone_by_now_has_no_holder(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "gone.json") is None


@pytest.mark.parametrize(
    ("holder", "has_ended"),
    [
        pytest.param(LockHolder(pid=os.getpid(), hostname=HERE), False, id="it-runs"),
        pytest.param(LockHolder(pid=NOBODY, hostname=HERE), True, id="there-is-no-such-process"),
        pytest.param(LockHolder(pid=NOBODY, hostname="ci-7"), False, id="on-another-machine"),
        pytest.param(LockHolder(file="x.json"), False, id="nobody-knows-who"),
    ],
)
def test_a_holder_has_ended_only_where_that_can_be_seen(
    holder: LockHolder, *, has_ended: bool
) -> None:
    assert holder.has_ended is has_ended


def test_a_number_that_another_program_has_by_now_is_not_the_holder() -> None:
    with subprocess.Popen(["sleep", "60"]) as another:
        try:
            assert LockHolder(pid=another.pid, hostname=HERE).has_ended
        finally:
            another.kill()


def test_a_holder_that_was_killed_and_not_yet_reaped_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as killed:
        holder = LockHolder(pid=killed.pid, hostname=HERE)
        killed.kill()
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)

        assert holder.has_ended


@pytest.mark.parametrize(
    ("left", "text"),
    [
        pytest.param(
            Interrupted((LockHolder(pid=NOBODY, username="ann", hostname=HERE),)),
            f"stack dev is locked by ann@{HERE} (process {NOBODY}); that process has ended: run "
            "'holdfast up -s dev --recover'",
            id="a-dead-holder",
        ),
        pytest.param(
            Interrupted((LockHolder(pid=7, username="ann", hostname="ci-7"),)),
            "stack dev is locked by ann@ci-7 (process 7); wait for that run to end; if it is dead, "
            "which can only be seen on ci-7, run 'pulumi cancel -s dev'",
            id="another-machine",
        ),
        pytest.param(
            Interrupted((LockHolder(file="/s/x.json"),)),
            "stack dev is locked by somebody: /s/x.json does not say who; if nobody is changing "
            "the stack, remove /s/x.json",
            id="unreadable",
        ),
        pytest.param(
            Interrupted(pending=("creating Deployment cx/app",)),
            "a killed run of stack dev left half done: creating Deployment cx/app; run 'holdfast "
            "up -s dev --recover' to go on from there",
            id="half-done",
        ),
    ],
)
def test_what_a_killed_run_has_left_refuses_the_next_one(left: Interrupted, text: str) -> None:
    assert str(left.refusal("dev")) == text


def test_nothing_left_refuses_nothing() -> None:
    assert Interrupted().refusal("dev") is None


def test_of_several_holders_the_one_that_may_still_run_decides() -> None:
    dead = LockHolder(pid=NOBODY, hostname=HERE)
    elsewhere = LockHolder(pid=7, hostname="ci-7")

    assert Interrupted((dead, elsewhere)).worst == elsewhere
