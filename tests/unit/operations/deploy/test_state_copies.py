"""Copies of a state around an update, by a program that says what the engine says."""

import json
from pathlib import Path

import pytest
from holdfast.adapters.engine.state.state_backup import KeptStates
from holdfast.errors import EngineError
from holdfast.operations.deploy.state_copies import backed_up
from holdfast.operations.progress import SILENT

from tests.unit.adapters.engine.test_stack import World
from tests.unit.operations.noted_progress import NotedProgress

STATE = json.dumps({"version": 3, "deployment": {"resources": []}})
ELSEWHERE = "s3://state"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    world = World(tmp_path / "here")
    world.says(STATE)
    return world


def names() -> set[str]:
    return {path.stem for path in KeptStates.of("p", "dev").newest_first()}


def test_what_an_update_finds_and_leaves_is_kept(world: World) -> None:
    progress = NotedProgress()
    with backed_up(world.stack(backend=ELSEWHERE), "u1", progress):
        assert names() == {"u1-before"}

    assert names() == {"u1", "u1-before"}
    assert progress.lines == []


def test_a_folder_keeps_its_own(world: World) -> None:
    with backed_up(world.stack(), "u1", SILENT):
        pass

    assert (names(), world.calls()) == (set(), [])


def test_an_update_that_fails_leaves_a_copy_and_its_error_alone(world: World) -> None:
    failure = pytest.raises(EngineError, match=r"^not done$")
    with failure, backed_up(world.stack(backend=ELSEWHERE), "u1", SILENT):
        raise EngineError("not done")

    assert names() == {"u1", "u1-before"}


def test_an_error_in_which_the_backend_was_lost_offers_the_copy(world: World) -> None:
    offer = r"^not done; renew it; should the state be lost, 'pulumi stack import -s dev --file "
    failure = pytest.raises(EngineError, match=offer + r"/.*u1-before\.json' restores the copy")
    with failure, backed_up(world.stack(backend=ELSEWHERE), "u1", SILENT):
        world.fails(255, "error: the token has expired")
        raise EngineError("not done", remedy="renew it")


def test_a_copy_that_cannot_be_kept_is_said_and_fails_nothing(world: World, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    progress = NotedProgress()
    with backed_up(world.stack(backend=ELSEWHERE), "u1", progress):
        pass

    assert len(progress.lines) == 2
    assert all(
        each.startswith("note: no copy of the state is kept here: ") for each in progress.lines
    )
