"""`holdfast up` asks about what it is going to do, and only about that."""

from pathlib import Path
from typing import Any

import click
import pytest
from holdfast.cli.main import run
from holdfast.errors import ExitCode
from holdfast.operations.stack.update_history import update_records

from tests.unit.operations.declared_project import manifest
from tests.unit.operations.deploy.scripted_engine import ScriptedEngine, step_event
from tests.unit.operations.deploy.test_update import leave_half_done


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """A project whose agent would be updated."""
    written = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    written.events("preview", step_event("update", "app"))
    monkeypatch.chdir(written.project.root)
    return written


def answers(monkeypatch: pytest.MonkeyPatch, *given: bool) -> list[str]:
    """Make both ends terminals and answer in this order; the questions that were asked."""
    asked: list[str] = []
    left = list(given)

    def answer(question: str, **_: Any) -> bool:
        asked.append(question)
        return left.pop(0)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "confirm", answer)
    return asked


def up_calls(engine: ScriptedEngine) -> list[str]:
    return [call for call in engine.calls() if call.startswith("up")]


def test_no_ends_with_its_exit_code_and_without_a_record(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers(monkeypatch, False)
    assert run(["up", "-s", "dev"]) == ExitCode.CANCELLED
    assert asked == ["Update stack dev?"]
    assert engine.calls() == ["preview"]
    assert update_records(engine.project.root, "dev") == []


def test_a_recovery_that_changes_nothing_in_the_plan_is_asked_about_once(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = leave_half_done(engine)
    engine.on("cancel", f"rm {lock}")
    asked = answers(monkeypatch, True)
    run(["up", "-s", "dev", "--recover"])
    assert asked == ["Update stack dev?"]
    assert up_calls(engine)


def test_a_plan_that_the_recovery_has_changed_is_asked_about_again(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = leave_half_done(engine)
    engine.on("cancel", f"rm {lock}")
    deletes = ScriptedEngine(engine.folder, engine.project)
    deletes.events("later", step_event("update", "other"))
    path = engine.folder / "preview.sh"
    later = f"if [ ! -f {lock} ]; then . {engine.folder}/later.sh; exit 0; fi\n"
    path.write_text(later + path.read_text())
    asked = answers(monkeypatch, True, False)
    assert run(["up", "-s", "dev", "--recover"]) == ExitCode.CANCELLED
    assert len(asked) == 2
    assert up_calls(engine) == []
