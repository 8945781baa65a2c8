"""Copies of a stack's state."""

import json
import os
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.project import Project
from holdfast.adapters.engine.state.state_backup import (
    MOST_KEPT,
    KeptStates,
    backed_up_state,
    emptied_state,
    restore,
)
from holdfast.errors import EngineError

from tests.unit.adapters.engine.test_stack import World

STATE = json.dumps({"version": 3, "deployment": {"resources": []}}).encode()


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptStates:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    return KeptStates.of("p", "organization/p/dev")


def test_a_copy_is_for_its_owner_alone_and_is_found_again(states: KeptStates) -> None:
    path = states.keep("one", STATE)

    assert path.read_bytes() == STATE
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.name == "dev"
    assert path.parent.stat().st_mode & 0o077 == 0
    assert states.deployment("one") is not None


def test_the_newest_are_kept(states: KeptStates) -> None:
    for number in range(MOST_KEPT + 3):
        os.utime(states.keep(str(number), STATE), ns=(number, number))

    names = [path.stem for path in states.newest_first()]

    # The time of the last one is set after the oldest have gone.
    assert names[:2] == [str(MOST_KEPT + 2), str(MOST_KEPT + 1)]
    assert len(names) == MOST_KEPT


@pytest.mark.parametrize("text", [None, b"", b'{"version": 99}'], ids=["none", "torn", "newer"])
def test_what_is_not_there_or_cannot_be_read_is_no_copy(
    states: KeptStates, text: bytes | None
) -> None:
    if text is not None:
        states.keep("one", text)

    assert states.deployment("one") is None


def test_a_folder_that_cannot_be_written_is_named(states: KeptStates) -> None:
    states.folder.parent.mkdir(parents=True)
    states.folder.write_text("in the way")

    with pytest.raises(EngineError, match=r"kept in .*dev .*; free some space, or set HOLDFAST"):
        states.keep("one", STATE)


@pytest.fixture
def files(tmp_path: Path) -> FileHistory:
    folder = tmp_path / ".pulumi/stacks/p"
    folder.mkdir(parents=True)
    (folder / "dev.json.gz").write_text("old")
    (folder / "dev.json.gz.bak").write_text("older")
    return FileHistory.at(f"file://{tmp_path}", Project(tmp_path, "p"), "dev")


def test_the_old_file_is_kept_and_no_state_any_more(files: FileHistory) -> None:
    with backed_up_state(files) as (kept,):
        assert files.current_path() is None

    assert kept.name.startswith("dev.json.gz.replaced-")
    assert kept.read_text() == "old"


def test_a_failure_puts_it_back_in_place_of_what_was_made(files: FileHistory) -> None:
    def fail_half_way() -> None:
        (files.folder / "stacks/p/dev.json").write_text("half")
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"), backed_up_state(files):
        fail_half_way()

    assert [path.read_text() for path in files.state_paths()] == ["old"]


def test_a_stack_without_a_state_has_nothing_to_keep(tmp_path: Path) -> None:
    with backed_up_state(
        FileHistory.at(f"file://{tmp_path}", Project(tmp_path, "p"), "dev")
    ) as kept:
        assert kept == ()


@pytest.mark.parametrize(
    ("copy", "name"),
    [
        pytest.param("stacks/p/dev.json.gz.bak", "dev.json.gz", id="beside-the-state"),
        pytest.param("history/p/dev/dev-17.checkpoint.json", "dev.json", id="of-the-history"),
    ],
)
def test_a_copy_becomes_the_state_under_the_name_of_its_compression(
    files: FileHistory, copy: str, name: str
) -> None:
    there = files.folder / copy
    there.parent.mkdir(parents=True, exist_ok=True)
    there.write_text("copied")
    with backed_up_state(files):
        restore(files, there)

        assert [path.name for path in files.state_paths()] == [name]
        assert files.state_paths()[0].read_text() == "copied"


def test_a_state_elsewhere_is_kept_here_and_reverted_when_the_body_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    world = World(tmp_path / "here")
    before = {"version": 3, "deployment": {"resources": [{"urn": "a", "type": "t"}]}}
    world.says(json.dumps(before))

    with pytest.raises(ValueError, match="x"), emptied_state(world.stack(backend="s3://s")):
        raise ValueError("x")

    (kept,) = KeptStates.of("p", "dev").newest_first()
    assert json.loads(kept.read_text()) == before

    assert [" ".join(call.split()[:2]) for call in world.calls()] == [
        "stack export",
        "stack export",
        "stack import",
        "stack import",
    ]


def test_a_stack_elsewhere_that_is_not_there_has_nothing_to_keep(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.fails(255, "error: no stack named 'dev' found")

    with emptied_state(world.stack(backend="s3://s")) as kept:
        assert kept is None
