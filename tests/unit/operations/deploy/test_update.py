"""One update: what is written, and when; how often the fleet is read."""

import json
import socket
import subprocess
from pathlib import Path

import pytest
from holdfast.errors import EngineError, ExitCode, InputError
from holdfast.operations.deploy.guarded import GuardedUpdate
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import update_records

from tests.unit.adapters.cluster.fake_api import fake_api, page
from tests.unit.operations.declared_project import IMAGE, deployment, manifest, write_kubeconfig
from tests.unit.operations.deploy.scripted_engine import (
    ScriptedEngine,
    step_event,
    violation,
)
from tests.unit.operations.noted_progress import NotedProgress


def update_of(
    engine: ScriptedEngine, request: UpdateRequest | None = None
) -> tuple[StackUpdate, NotedProgress]:
    progress = NotedProgress()
    return StackUpdate(engine.project.context(), request or UpdateRequest(), progress), progress


def leave_half_done(engine: ScriptedEngine) -> Path:
    """What a killed run leaves: its lock, and an operation that was begun."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    folder = engine.checkpoint.parents[2] / "locks" / "organization" / "demo" / "dev"
    folder.mkdir(parents=True)
    lock = folder / "left.json"
    who = {"pid": ended.pid, "username": "ann", "hostname": socket.gethostname()}
    lock.write_text(json.dumps(who | {"timestamp": "2026-11-22T01:00:00Z"}))
    return lock


def test_a_refusal_by_the_policy_pack_leaves_a_new_stack_and_its_file_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"), has_stack=False)
    (engine.project.root / "policy-pack").mkdir()
    engine.events("preview", violation("no-latest"), then="exit 1")
    before = engine.stack_file.read_bytes()
    update, _ = update_of(engine)

    with pytest.raises(EngineError) as caught:
        update.plan()

    assert caught.value.exit_code is ExitCode.POLICY
    assert "stack init" in engine.calls(), "the preview needs the stack"
    assert engine.stack_file.read_bytes() == before
    assert not engine.checkpoint.exists()


def test_a_plan_that_is_not_applied_leaves_what_a_killed_run_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    lock = leave_half_done(engine)
    engine.on("cancel", f"rm {lock}")
    update, progress = update_of(engine, UpdateRequest(recover=True))

    plan = update.plan()

    assert lock.exists()
    assert engine.calls() == ["preview"]
    update.begin(plan)
    assert not lock.exists()
    assert engine.calls() == ["preview", "cancel", "preview"], "planned again, now without a lock"
    assert any(line.startswith("recovery: removed the lock of ann@") for line in progress.lines)


def test_what_resumes_after_a_killed_run_is_the_command_that_was_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    leave_half_done(engine)
    update, _ = update_of(engine, UpdateRequest(resume_command="holdfast promote --recover"))

    with pytest.raises(EngineError) as caught:
        update.plan()

    assert caught.value.remedy == "run 'holdfast promote --recover' to resume"
    assert engine.calls() == []


def test_a_tag_that_cannot_be_set_fails_no_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    engine.on("stack-tag", "echo 'error: the backend is away' >&2", "exit 255")
    update, progress = update_of(engine)

    record = update.apply(update.plan())

    assert record.outcome == "succeeded"
    assert progress.lines[-1].startswith("note: the update is done, its tags are not set: ")
    (kept,) = update_records(engine.project.root, "dev")
    assert kept.outcome == "succeeded"


def test_a_stack_that_does_not_exist_is_named_first_and_gets_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    (engine.project.root / "not-committed").write_text("x")
    update = StackUpdate(StackContext(engine.project.root, "qa"), UpdateRequest())

    with pytest.raises(InputError, match="no stack 'qa': there is no stacks") as no:
        update.plan()

    assert no.value.exit_code is ExitCode.NO_STACK
    assert engine.calls() == []
    assert not list(tmp_path.rglob("updates.jsonl"))


def test_files_that_are_not_valid_are_named_line_by_line_and_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = manifest("app", "  replicaz: 3\n")
    engine = ScriptedEngine.write(tmp_path, monkeypatch, wrong)
    update, progress = update_of(engine)

    with pytest.raises(Exception, match="the project's files are refused: 1 error") as caught:
        update.plan()

    assert getattr(caught.value, "exit_code", None) is ExitCode.BAD_INPUT
    (line,) = progress.lines
    assert line.startswith("agents/declared.yaml:8:3: spec.replicaz: ")
    assert engine.calls() == []
    (kept,) = update_records(engine.project.root, "dev")
    assert kept.outcome == "refused"


def test_the_fleet_is_read_once_for_an_update_and_its_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        "holdfast:updates": {"watchSeconds": 1, "waves": True},
        "holdfast:images": {"tools": IMAGE},
    }
    first = manifest("first", "  network: {ingressFrom: [second]}\n")
    second = manifest("second", "  dependsOn: [first]\n")
    engine = ScriptedEngine.write(tmp_path, monkeypatch, first, second, settings=settings)
    # As soon as the engine has begun, the files are gone: what needs them has read them by then.
    project = engine.project.root
    engine.events("preview", step_event("update", "first"), then=f"rm -r {project}/agents")
    engine.events("up", step_event("update", "first"))
    update, progress = update_of(engine, UpdateRequest(dirty_reason="a test"))
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        path = "/apis/apps/v1/namespaces/loop/deployments"
        api.on(path, page(*(deployment(name, is_ready=True) for name in ("first", "second"))))

        record = GuardedUpdate(update, engine.project.context()).run()

    assert record.outcome == "succeeded"
    assert "wave 1 of 2: first" in progress.lines
    assert api.paths() == [path] * len(api.paths())
    assert len(api.paths()) >= 3, "before, after the wave, and while it was watched"
    assert not (project / "agents").exists()


@pytest.mark.parametrize("is_dirty", [False, True], ids=["committed", "not committed"])
def test_files_that_changed_after_the_preview_are_not_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_dirty: bool
) -> None:
    engine = ScriptedEngine.write(tmp_path, monkeypatch, manifest("app"))
    engine.events("preview", step_event("update", "app"))
    if is_dirty:
        (engine.project.root / "agents" / "declared.yaml").write_text(manifest("tried"))
    update, _ = update_of(engine, UpdateRequest(dirty_reason="trying" if is_dirty else ""))
    update.plan()
    update.ensure_files_unchanged()

    (engine.project.root / "agents" / "declared.yaml").write_text(manifest("other"))
    with pytest.raises(InputError, match="changed after the preview"):
        update.ensure_files_unchanged()
    assert not any(call.startswith("up") for call in engine.calls())
    assert update_records(engine.project.root, "dev") == []
