"""What a backend elsewhere tells of its changes, by a program that says what the engine says."""

import json
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.state.state_backup import KeptStates

from tests.unit.adapters.engine.test_stack import World

URN = "urn:pulumi:dev::p::kubernetes:core/v1:ConfigMap::"


def record(minute: int, message: str = "") -> dict[str, object]:
    return {
        "kind": "update",
        "startTime": f"2026-11-21T18:{minute:02}:00.000Z",
        "endTime": f"2026-11-21T18:{minute:02}:30.000Z",
        "result": "succeeded",
        "message": message,
        "environment": {},
    }


def state(name: str) -> bytes:
    resources = [{"urn": f"{URN}{name}", "type": "kubernetes:core/v1:ConfigMap"}]
    return json.dumps({"version": 3, "deployment": {"resources": resources}}).encode()


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteHistory:
    """Two updates by Holdfast, told newest first; of the first a copy is kept."""
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    world = World(tmp_path / "here")
    told = [record(minute, f"x\n\nHoldfast-Identifier: u{minute}") for minute in (2, 1)]
    world.says(json.dumps(told))
    KeptStates.of("p", "dev").keep("u1", state("kept"))
    return RemoteHistory(world.stack(backend="s3://state"))


def test_changes_are_reported_oldest_first(history: RemoteHistory) -> None:
    assert [time % 3600 for time in history.saved_seconds] == [91, 151]


def test_a_copy_that_is_kept_says_what_its_update_left(history: RemoteHistory) -> None:
    kept = history.checkpoint(0)

    assert kept is not None
    assert [each.urn for each in kept.resources] == [f"{URN}kept"]


def test_what_the_backend_does_not_give_out_and_nobody_kept_is_none(
    history: RemoteHistory, tmp_path: Path
) -> None:
    KeptStates.of("p", "dev").newest_first()[0].unlink()

    assert history.checkpoint(0) is None


def test_the_newest_is_asked_of_the_backend_where_no_copy_is_kept(history: RemoteHistory) -> None:
    assert history.saved_seconds
    World(history.stack.runner.project.root).says(state("there").decode())

    newest = history.checkpoint(1)

    assert newest is not None
    assert [each.urn for each in newest.resources] == [f"{URN}there"]
