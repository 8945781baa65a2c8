"""The lock of a backend elsewhere, by a program that says what the engine says."""

import json
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.asked_lock import ask_holders
from holdfast.adapters.engine.backend.lock_holder import LockHolder
from holdfast.adapters.engine.state.interrupted import Interrupted, interrupted
from holdfast.errors import EngineError

from tests.unit.adapters.engine.test_stack import World

LOCKED = """\
error: the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end or \
delete the lock file with `pulumi cancel`.
  s3://state/.pulumi/locks/organization/p/dev/1.json: created by ann@box (pid 2548) at \
2026-11-21T18:12:36Z
  s3://state/.pulumi/locks/organization/p/dev/2.json: created by a b@other (pid 7) at \
2026-11-21T18:12:40Z
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_holders_are_those_that_the_engine_names(world: World) -> None:
    world.fails(255, LOCKED)

    first, second = ask_holders(world.stack(backend="s3://state"))

    assert first == LockHolder(
        "s3://state/.pulumi/locks/organization/p/dev/1.json",
        2548,
        "ann",
        "box",
        "2026-11-21T18:12:36Z",
    )
    assert (second.username, second.hostname, second.pid) == ("a b", "other", 7)
    assert world.calls() == ["stack rename dev --stack dev --non-interactive --color=never"]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("error: a stack named organization/p/dev already exists", id="free"),
        pytest.param("error: no stack named 'dev' found", id="no-stack"),
    ],
)
def test_nobody_holds_the_lock_of_a_stack_that_is_free_or_not_there(
    world: World, said: str
) -> None:
    world.fails(255, said)

    assert ask_holders(world.stack(backend="postgres://db/state")) == ()


def test_a_lock_that_does_not_say_whose_it_is_is_a_lock(world: World) -> None:
    world.fails(255, "error: the stack is currently locked by 1 lock(s). Who knows.")

    (holder,) = ask_holders(world.stack(backend="s3://state"))

    refusal = Interrupted((holder,)).refusal("dev")
    assert not holder.has_ended
    assert refusal is not None
    assert "stack dev is locked by somebody" in str(refusal)


def test_a_backend_that_does_not_answer_is_not_called_free(world: World) -> None:
    world.fails(255, "error: something else")

    with pytest.raises(EngineError, match="something else"):
        ask_holders(world.stack(backend="s3://state"))


@pytest.mark.parametrize("backend", ["https://api.pulumi.com", "http://pulumi.example"])
def test_a_service_is_not_asked(world: World, backend: str) -> None:
    assert ask_holders(world.stack(backend=backend)) == ()
    assert world.calls() == []


def test_what_was_begun_is_read_from_the_state(world: World) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    resource = {"urn": "urn:x::a", "type": "t", "inputs": config_map}
    begun = [{"type": "creating", "resource": resource}]
    world.says(json.dumps({"version": 3, "deployment": {"pending_operations": begun}}))

    left = interrupted(world.stack(backend="https://api.pulumi.com"))

    assert left == Interrupted((), ("creating ConfigMap a",))


def test_a_stack_that_is_not_there_has_nothing_left_half_done(world: World) -> None:
    world.fails(255, "error: no stack named 'dev' found")

    assert interrupted(world.stack(backend="s3://state")) == Interrupted()
