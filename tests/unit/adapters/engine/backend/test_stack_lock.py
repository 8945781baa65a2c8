"""The lock and the newest change of a stack in a folder."""

import json
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.backend.stack_lock import ActivityReader, stack_lock
from holdfast.adapters.engine.project import Project
from holdfast.errors import EngineError

PROJECT = "name: holdfast\nruntime: python\n"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path}/state")
    folder = tmp_path / "state" / ".pulumi"
    folder.mkdir(parents=True)
    return folder


def test_a_stack_that_was_never_changed_is_up_to_nothing(state: Path, tmp_path: Path) -> None:
    activity = ActivityReader(tmp_path, "dev").read()
    assert (activity.newest_change, activity.is_under_way) == ("", False)


def test_a_record_is_a_change_and_the_newest_one_counts(state: Path, tmp_path: Path) -> None:
    reader = ActivityReader(tmp_path, "dev")
    history = state / "history" / "holdfast" / "dev"
    history.mkdir(parents=True)
    (history / "dev-1700000000000000002.history.json").write_text("{}")
    first = reader.read().newest_change
    assert first == "dev-1700000000000000002.history.json"
    (history / "dev-1700000000000000001.history.json").write_text("{}")
    assert reader.read().newest_change == first
    (history / "dev-1700000000000000003.history.json").write_text("{}")
    assert reader.read().newest_change == "dev-1700000000000000003.history.json"


def test_a_lock_is_a_change_under_way(state: Path, tmp_path: Path) -> None:
    reader = ActivityReader(tmp_path, "dev")
    locks = state / "locks" / "organization" / "holdfast" / "dev"
    locks.mkdir(parents=True)
    (locks / "x.json.attrs").write_text("{}")
    assert not reader.read().is_under_way
    (locks / "x.json").write_text("{}")
    assert reader.read().is_under_way


def test_a_backend_that_is_no_folder_says_nothing(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    assert ActivityReader(tmp_path, "dev").read().newest_change == ""


@pytest.fixture
def files(tmp_path: Path) -> FileHistory:
    return FileHistory.at(f"file://{tmp_path}", Project(tmp_path, "p"), "dev")


def test_the_lock_is_held_while_we_write_and_gone_afterwards(files: FileHistory) -> None:
    with stack_lock(files):
        (lock,) = files.locks_folder.glob("*.json")
        assert {"pid", "username", "hostname", "timestamp"} <= json.loads(lock.read_text()).keys()
        assert len(files.holders()) == 1
    assert files.holders() == ()


def test_a_failure_gives_the_lock_back(files: FileHistory) -> None:
    with pytest.raises(ValueError, match="x"), stack_lock(files):
        raise ValueError("x")
    assert files.holders() == ()


def test_a_locked_stack_is_left_alone(files: FileHistory) -> None:
    refused = pytest.raises(EngineError, match="stack dev is locked by")
    with stack_lock(files), refused, stack_lock(files):
        pytest.fail("two hold the lock")
    assert files.holders() == ()


def test_a_backend_elsewhere_has_no_lock_here() -> None:
    with stack_lock(None):
        pass
