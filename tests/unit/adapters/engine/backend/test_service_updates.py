"""Pulumi Cloud with an update under way: its record has no end, and its state is unfinished."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.backend.lock_holder import StackLockedError
from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.baseline import choose_baseline
from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.operations.stack import context
from holdfast.operations.stack.context import StackContext

from tests.unit.adapters.engine.test_stack import World

CLOUD = "https://api.pulumi.com"
SHARED = "shared"
"""Every update changes this object, and creates one of its own."""


def at(minute: int, second: int) -> str:
    return f"2026-11-21T18:{minute:02}:{second:02}.000Z"


def finished(version: int) -> dict[str, Any]:
    """A record as `pulumi stack history --json` prints it."""
    return {
        "version": version,
        "kind": "update",
        "startTime": at(version, 0),
        "message": "Merge pull request #7",
        "environment": {"exec.kind": "cli", "git.head": "0a1b"},
        "config": {"kubernetes:context": {"value": "prod", "secret": False}},
        "result": "succeeded",
        "endTime": at(version, 40),
        "resourceChanges": {"create": 1, "update": 1},
    }


def running(version: int) -> dict[str, Any]:
    """The same of an update that has not ended: `endTime` and `resourceChanges` are left out."""
    record = finished(version) | {"result": "in-progress"}
    return {name: record[name] for name in record if name not in ("endTime", "resourceChanges")}


def config_map(name: str, created: int, modified: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "n"},
        "data": {"update": str(modified)},
    }
    live = {**body, "metadata": {**body["metadata"], "uid": f"uid-{name}"}}
    return {
        "urn": f"urn:pulumi:dev::p::kubernetes:core/v1:ConfigMap::{name}",
        "type": "kubernetes:core/v1:ConfigMap",
        "custom": True,
        "inputs": body,
        "outputs": live,
        "created": at(created, 20),
        "modified": at(modified, 20),
    }


def state(version: int, pending: list[dict[str, Any]] | None = None) -> str:
    """What an update leaves: its own object, those before it, and the shared one changed."""
    own = [config_map(f"own-{each}", each, each) for each in range(1, version + 1)]
    resources = [config_map(SHARED, 1, version), *own]
    deployment = {"resources": resources, "pending_operations": pending or []}
    return json.dumps({"version": 3, "deployment": deployment})


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    return World(tmp_path / "project")


def service(world: World, updates: int, *, is_busy: bool = True) -> Stack:
    """A stack of the service after some updates; with another one under way, or without."""
    records = [finished(version) for version in range(1, updates + 1)]
    world.says_to("stack history --json", json.dumps(records[::-1]))
    world.says_to("stack export", state(updates))
    for version in range(1, updates + 1):
        world.says_to(f"stack export --version={version}", state(version))
    if is_busy:
        records.append(running(updates + 1))
        world.says_to("stack history --json", json.dumps(records[::-1]))
        begun = {"type": "updating", "resource": config_map(SHARED, 1, updates + 1)}
        world.says_to("stack export", state(updates + 1, [begun]))
    return world.stack(backend=CLOUD)


@pytest.mark.parametrize("is_busy", [pytest.param(True, id="busy"), pytest.param(False, id="idle")])
@pytest.mark.parametrize("updates", range(1, 13))
def test_every_object_has_the_baseline_of_the_last_update_that_ended(
    world: World, updates: int, *, is_busy: bool
) -> None:
    history = RemoteHistory(service(world, updates, is_busy=is_busy))

    baseline = choose_baseline(history)

    assert (baseline.reason, baseline.untrusted) == ("", ())
    said = {each.reference.name: each.object["data"]["update"] for each in baseline.objects}
    own = {f"own-{each}": str(each) for each in range(1, updates + 1)}
    assert said == {SHARED: str(updates), **own}
    assert [ref.name for ref in baseline.pending] == ([SHARED] if is_busy else [])
    assert len(history.saved_seconds) == updates


def test_a_stack_whose_first_update_is_under_way_has_no_baseline(world: World) -> None:
    history = RemoteHistory(service(world, 0))

    assert choose_baseline(history).reason == "the stack has never been updated successfully"
    assert [str(each) for each in history.running] == [f"update 1 since {at(1, 0)}"]


def test_an_update_that_is_queued_is_neither_done_nor_under_way(world: World) -> None:
    stack = service(world, 2, is_busy=False)
    queued = finished(3) | {"result": "not-started", "endTime": "1970-01-01T00:00:00.000Z"}
    world.says_to("stack history --json", json.dumps([queued, finished(2), finished(1)]))
    history = RemoteHistory(stack)

    assert history.running == ()
    assert len(history.saved_seconds) == 2


def test_an_update_under_way_refuses_another_one(world: World) -> None:
    refusal = interrupted(service(world, 3)).refusal("dev")

    assert str(refusal) == (
        f"stack dev is locked by update 4 since {at(4, 0)}; wait for it to end; if it is dead, run "
        "'pulumi cancel -s dev'"
    )


@pytest.mark.parametrize("is_busy", [pytest.param(True, id="busy"), pytest.param(False, id="idle")])
def test_a_revert_is_refused_beside_an_update_of_the_service(
    world: World, monkeypatch: pytest.MonkeyPatch, *, is_busy: bool
) -> None:
    stack = service(world, 3, is_busy=is_busy)
    monkeypatch.setattr(context, "state_files", lambda *_: None)
    monkeypatch.setattr(StackContext, "engine", lambda _: stack)
    reverted = []

    with suppress(StackLockedError), StackContext(world.root, "dev").locked():
        reverted.append("written")

    assert reverted == ([] if is_busy else ["written"])
