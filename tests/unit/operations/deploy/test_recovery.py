"""A state that was recovered and cannot be compared: it is in the history, and said to be so."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from holdfast.cli.recover import command
from holdfast.errors import EngineError, ExitCode
from holdfast.operations.deploy.recovery import RecoveryRequest, recover
from holdfast.operations.stack.update_history import update_records

from tests.unit.operations.declared_project import manifest, write_kubeconfig
from tests.unit.operations.deploy.scripted_engine import STATE, ScriptedEngine


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """A state that is cut off, with a copy beside it; a cluster that does not answer."""
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    engine.checkpoint.with_name("dev.json.bak").write_text(json.dumps(STATE))
    engine.checkpoint.write_text(json.dumps(STATE)[:20])
    nowhere = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(nowhere))
    engine.on("stack-export", """echo '{"version": 3, "deployment": {"resources": []}}'""")
    engine.on("preview", "echo 'error: the cluster is away' >&2", "exit 255")
    return engine


def test_a_recovery_that_cannot_be_compared_is_in_the_history_and_no_failure(
    engine: ScriptedEngine,
) -> None:
    result = recover(engine.project.context(), RecoveryRequest(reason="cut off"))

    assert result.source.endswith("dev.json.bak")
    assert any(each.startswith("preview: ") for each in result.not_checked)
    assert not result.is_equal
    assert json.loads(engine.checkpoint.read_bytes()) == STATE
    (record,) = update_records(engine.project.root, "dev")
    assert (record.action, record.outcome, record.reason) == ("recover", "done", "cut off")
    assert "not checked: " in record.detail


def test_the_exit_code_of_a_failure_is_kept_for_a_state_that_is_as_before(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(engine.project.root)
    done = CliRunner().invoke(command, ["-s", "dev", "-o", "json"], standalone_mode=False)
    assert done.return_value is ExitCode.DRIFT
    assert json.loads(done.stdout)["notChecked"]


def test_a_recovery_that_fails_leaves_the_state_as_it_was(engine: ScriptedEngine) -> None:
    before = engine.checkpoint.read_bytes()
    engine.checkpoint.with_name("dev.json.bak").unlink()

    with pytest.raises(EngineError):
        recover(engine.project.context(), RecoveryRequest())

    assert engine.checkpoint.read_bytes() == before
    assert update_records(engine.project.root, "dev") == []
