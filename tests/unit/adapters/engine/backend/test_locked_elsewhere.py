"""Locks and unfinished operations of a backend that is no folder: what is read, and what is not."""

import json
import socket
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.lock_holder import LockHolder, StackLockedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.state.interrupted import (
    Interrupted,
    interrupted,
    past_dead_lock,
    recover_interrupted,
)
from holdfast.errors import EngineError

from tests.unit.adapters.engine.backend.test_lock_holder import NOBODY, ours
from tests.unit.adapters.engine.failed_runs import outcome
from tests.unit.adapters.engine.test_stack import World

BEGUN = {
    "type": "creating",
    "resource": {
        "urn": "urn:x::a",
        "type": "t",
        "inputs": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
    },
}
HALF_DONE = json.dumps({"version": 3, "deployment": {"pending_operations": [BEGUN]}})
REFUSED = (
    "error: the stack is currently locked by 1 lock(s).\n  s3://state/1.json: created by "
    "ann@{host} (pid {pid}) at 2026-11-21T18:12:36Z"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("backend", ["s3://state", "gs://state", "azblob://state", "postgres://db"])
def test_to_know_what_is_half_done_the_state_is_read_and_nothing_else_is_run(
    world: World, backend: str
) -> None:
    world.says(HALF_DONE)

    left = interrupted(world.stack(backend=backend))

    assert left == Interrupted(pending=("creating ConfigMap a",), may_be_locked=True)
    assert [call.split(" --")[0] for call in world.calls()] == ["stack export"]


def test_of_a_login_that_is_encrypted_both_ways_are_tried(world: World) -> None:
    world.says_to("stack export", HALF_DONE)
    world.says_to("stack history --json", "[]")

    left = interrupted(world.stack(backend=""))

    assert left == Interrupted(pending=("creating ConfigMap a",), may_be_locked=True)


def test_what_is_half_done_may_be_a_run_under_way(world: World) -> None:
    world.says(HALF_DONE)

    refusal = interrupted(world.stack(backend="s3://state")).refusal("dev")

    assert str(refusal) == (
        "a run is changing stack dev, or was killed while it did; unfinished: creating ConfigMap "
        "a; wait for it to end; if none runs, run 'holdfast up -s dev --recover'"
    )


def test_a_stack_that_is_not_there_has_nothing_left_half_done(world: World) -> None:
    world.fails(255, "error: no stack named 'dev' found")

    assert interrupted(world.stack(backend="s3://state")) == Interrupted()


def test_a_backend_that_does_not_answer_is_not_called_free(world: World) -> None:
    world.fails(255, "error: something else")

    with pytest.raises(EngineError, match="something else"):
        interrupted(world.stack(backend="s3://state"))


def test_a_killed_run_of_a_folder_is_one() -> None:
    refusal = Interrupted(pending=("creating Deployment cx/app",)).refusal("dev")

    assert str(refusal) == (
        "a killed run of stack dev left unfinished: creating Deployment cx/app; run 'holdfast "
        "up -s dev --recover' to resume"
    )


def test_nothing_left_refuses_nothing() -> None:
    assert Interrupted().refusal("dev") is None
    assert Interrupted(may_be_locked=True).refusal("dev") is None


def test_the_engines_refusal_of_a_locked_stack_names_who_holds_it(world: World) -> None:
    world.fails(255, REFUSED.format(host="ci-7", pid=12))

    for run in (world.stack(backend="s3://state").up, world.stack(backend="s3://state").outputs):
        with pytest.raises(
            StackLockedError, match=r"ann@ci-7 \(process 12\) since .* seen on ci-7"
        ):
            run()


@pytest.fixture
def refusals() -> list[StackLockedError]:
    """What the engine refuses with, one for each run; when they are used up it does it."""
    return []


def run_until_refused(refusals: list[StackLockedError]) -> RunResult:
    if refusals:
        raise refusals.pop()
    return outcome(action="up")


def test_a_recovery_removes_the_lock_of_a_dead_process_and_runs_again(
    world: World, refusals: list[StackLockedError]
) -> None:
    refusals.append(StackLockedError("dev", (ours(NOBODY),)))
    notes: list[str] = []

    done = past_dead_lock(
        world.stack(backend="s3://state"), lambda: run_until_refused(refusals), notes.append
    )

    assert done.action == "up"
    assert [note.split("@")[0] for note in notes] == ["removed the lock of ann"]
    assert [call.split(" --non")[0] for call in world.calls()] == ["cancel --yes --stack dev"]


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param(LockHolder(pid=7, hostname="ci-7"), id="another-machine"),
        pytest.param(LockHolder(file="the lock"), id="unreadable"),
        pytest.param(LockHolder(update="another update"), id="a-service"),
    ],
)
def test_a_recovery_leaves_the_lock_of_a_process_that_may_live(
    world: World, refusals: list[StackLockedError], holder: LockHolder
) -> None:
    refusals.append(StackLockedError("dev", (holder,)))
    stack = world.stack(backend="s3://state")

    with pytest.raises(StackLockedError):
        past_dead_lock(stack, lambda: run_until_refused(refusals), pytest.fail)
    assert world.calls() == []


def test_what_is_half_done_is_not_taken_from_a_run_that_may_live(world: World) -> None:
    """The state can be read, and its import is refused for the lock."""
    world.says(HALF_DONE)
    world.fails_at("stack import", REFUSED.format(host="ci-7", pid=NOBODY))
    stack = world.stack(backend="s3://state")

    with pytest.raises(StackLockedError, match="locked by ann@ci-7"):
        list(recover_interrupted(stack, interrupted(stack)))
    assert not [call for call in world.calls() if call.startswith("cancel")]


def test_a_lock_of_this_machine_is_judged_from_the_engines_words(world: World) -> None:
    world.fails(255, REFUSED.format(host=socket.gethostname(), pid=NOBODY))

    with pytest.raises(StackLockedError) as raised:
        world.stack(backend="s3://state").up()
    (holder,) = raised.value.holders
    assert holder.is_here
