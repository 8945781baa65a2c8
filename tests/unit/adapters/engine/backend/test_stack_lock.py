"""Our own lock of a stack: the engine's, in the engine's place."""

import json
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.backend.stack_lock import stack_lock
from holdfast.adapters.engine.project import Project
from holdfast.errors import EngineError


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
