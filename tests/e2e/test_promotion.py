"""The way of a commit between stacks and back, on the real engine and a real API server."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.backend.processes import pid_namespace

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """One agent on two stacks, `staging` and `prod`, in namespaces of their own."""
    root = tmp_path_factory.mktemp("promotion")
    written = GitProject.write(root, sandbox, agent("mover").replace(", namespace: loop", ""))
    for name in ("staging", "prod"):
        stack: dict[str, Any] = {
            "config": {
                "holdfast:cluster": {"context": sandbox.context, "identifier": name},
                "holdfast:namespace": name,
                "holdfast:policy": {"profile": "dev"},
            }
        }
        if name == "prod":
            stack["config"]["holdfast:updates"] = {"requireApproval": True}
        (root / "stacks" / f"Pulumi.{name}.yaml").write_text(json.dumps(stack))
        written.project.stack(name).init_if_absent()
    written.commit("Two stacks")
    for name in ("staging", "prod"):
        done = written.project.holdfast("up", "-s", name)
        assert done.returncode == 0, done.stderr
    return written


def leave_a_lock(project: GitProject, stack: str) -> Path:
    """The lock of a run that has ended without giving it back."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    files = project.project.stack(stack).files
    assert files is not None
    files.locks_folder.mkdir(parents=True, exist_ok=True)
    file = files.locks_folder / "left-behind.json"
    who = {"pid": ended.pid, "username": "ann", "hostname": socket.gethostname()}
    when = {"timestamp": "2026-11-22T01:00:00Z", "pidNamespace": pid_namespace()}
    file.write_text(json.dumps(who | when))
    return file


def _is_refused_after_a_killed_run(project: GitProject, *promote: str) -> None:
    """Each stack that a killed run has left is named, with the command that goes on."""
    lock = leave_a_lock(project, "staging")
    refused = project.project.holdfast(*promote)
    assert refused.returncode == 1
    assert "gate source failed: stack staging is locked by" in refused.stderr
    assert "run 'holdfast up -s staging --recover'" in refused.stderr
    lock.unlink()
    leave_a_lock(project, "prod")
    refused = project.project.holdfast(*promote)
    assert refused.returncode == 1
    assert "run 'holdfast promote --from staging --to prod --recover'" in refused.stderr


def told_of_both(project: GitProject) -> str:
    """What a scan of both stacks says with the audit log of their one API server."""
    log = str(project.project.sandbox.audit_log)
    both = project.project.holdfast("drift", "-s", "staging", "-s", "prod", "--audit-log", log)
    assert both.returncode == 7, both.stderr
    return both.stdout


def test_a_commit_goes_on_past_its_gates_and_comes_back(
    project: GitProject, kubectl: Kubectl, tmp_path: Path
) -> None:
    run = project.project.holdfast
    first = project.commit("Nothing new", agent("mover").replace(", namespace: loop", "") + "\n")
    assert run("up", "-s", "prod").returncode == 0
    manifest = agent("mover", "1.1.0").replace(", namespace: loop", "")
    second = project.commit("Move to 1.1.0", manifest)
    assert run("up", "-s", "staging").returncode == 0

    told = run("diff", "staging", "prod", "-o", "json")
    assert told.returncode == 0, told.stderr
    document = json.loads(told.stdout)
    assert [each["commit"] for each in document["stacks"]] == [second, first]
    assert document["stacks"][0]["onlyHere"] == [{"commit": second, "subject": "Move to 1.1.0"}]
    assert any(
        "version" in each["path"] and '"1.1.0"' in each["values"].values()
        for each in document["differences"]["differences"]
    )

    promote = ("promote", "--from", "staging", "--to", "prod", "--yes")
    refused = run(*promote)
    assert refused.returncode == 1
    assert "gate approval failed" in refused.stderr

    kubectl("set", "env", "deployment/mover", "-n", "staging", "HOTFIX=1", user="alice")
    assert "by alice@example.test" in told_of_both(project)
    refused = run(*promote)
    assert refused.returncode == 7, refused.stderr
    assert "gate drift failed" in refused.stderr
    assert "gate health: passed" in refused.stderr
    assert run("drift", "revert", "-s", "staging", "--yes").returncode == 0

    file = tmp_path / "approval.txt"
    file.write_text(f"Commit: {second}\nStack: prod\nApproved-By: Bob\n")
    _is_refused_after_a_killed_run(project, *promote, "--approval", str(file))
    done = run(*promote, "--approval", str(file), "--recover", "-o", "json")
    assert done.returncode == 0, done.stderr
    assert "recovery: removed the lock of" in done.stderr
    (record,) = json.loads(done.stdout)["updates"]
    assert (record["action"], record["commit"], record["isDirty"]) == ("promote", second, False)
    assert record["proof"].startswith("equal: compared ")
    labels = kubectl.get("deployment", "mover", "-n", "prod")["metadata"]["labels"]
    assert labels["app.kubernetes.io/version"] == "1.1.0"

    back = run("rollback", "-s", "prod", first[:9], "--reason", "answers got slower", "--yes")
    assert back.returncode == 0, back.stderr
    updates = json.loads(run("history", "prod", "-o", "json").stdout)["updates"]
    newest = updates[0]
    assert (newest["action"], newest["commit"]) == ("rollback", first)
    assert newest["reason"] == "answers got slower"
    assert newest["proof"].startswith("equal: compared ")
    assert {each["outcome"] for each in updates[2:5]} == {"refused"}
    labels = kubectl.get("deployment", "mover", "-n", "prod")["metadata"]["labels"]
    assert labels["app.kubernetes.io/version"] == "1.0.0"
    assert (project.root / "agents" / "declared.yaml").read_text() == manifest


def test_nothing_is_brought_back_to_where_nothing_is(project: GitProject) -> None:
    done = project.project.holdfast("rollback", "-s", "prod", "nowhere", "--reason", "x")
    assert done.returncode == 2
    assert "there is no commit 'nowhere'" in done.stderr
