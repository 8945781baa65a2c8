"""A stack brought to a commit: what a plan that is not confirmed leaves behind."""

from pathlib import Path

import pytest
from holdfast.adapters.git.source import commit_named
from holdfast.errors import InputError
from holdfast.operations.deploy.commit import planned_deployment
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.stack.update_history import update_records

from tests.unit.operations.declared_project import manifest
from tests.unit.operations.deploy.scripted_engine import ScriptedEngine
from tests.unit.operations.deploy.test_update import leave_half_done

ROLLBACK = UpdateRequest(action="rollback", reason="slower", recover=True)


def test_a_rollback_that_is_not_confirmed_leaves_the_state_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    lock, state = leave_half_done(engine), engine.checkpoint.read_bytes()
    home = engine.project.context()
    commit = commit_named(home.root, "HEAD")

    with pytest.raises(KeyboardInterrupt), planned_deployment(home, commit, ROLLBACK):
        raise KeyboardInterrupt  # the answer is no

    assert engine.calls() == ["preview"]
    assert lock.exists()
    assert engine.checkpoint.read_bytes() == state
    assert update_records(home.root, "dev") == []


def test_a_rollback_that_is_refused_is_in_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    home = engine.project.context()
    commit = commit_named(home.root, "HEAD")

    with pytest.raises(InputError), planned_deployment(home, commit, ROLLBACK):
        raise InputError("confirmation required")

    (record,) = update_records(home.root, "dev")
    assert (record.action, record.outcome) == ("rollback", "refused")
    assert (record.commit, record.detail) == (commit.name, "confirmation required")
    assert engine.calls() == ["preview"]
