"""Updates from commits, on the real engine and a real API server: refused, done, told."""

import json
from typing import Any

import pytest
import yaml
from holdfast.adapters.git.repository import run_git

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

STEADY = agent("steady")


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """Two agents in a repository, brought to the cluster from a clean commit."""
    root = tmp_path_factory.mktemp("loop")
    written = GitProject.write(root, sandbox, agent("mover") + STEADY)
    done = written.project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    return written


def writes(sandbox: LiveSandbox, since: int) -> list[str]:
    """Objects that the engine has written since the audit log had so many entries."""
    return [
        event["requestURI"]
        for event in sandbox.audit_events()[since:]
        if not event["user"]["username"].startswith("system:")
        and "dryRun=" not in event["requestURI"]
    ]


def history(project: GitProject, *arguments: str) -> list[dict[str, Any]]:
    done = project.project.holdfast("history", *arguments, "-o", "json")
    assert done.returncode == 0, done.stderr
    updates: list[dict[str, Any]] = json.loads(done.stdout)["updates"]
    return updates


def test_the_story_of_a_stack(project: GitProject, sandbox: LiveSandbox, kubectl: Kubectl) -> None:
    run = project.project.holdfast
    before = len(sandbox.audit_events())
    assert run("up", "-s", "dev").returncode == 0
    assert writes(sandbox, before) == [], "a second update writes nothing"

    project.project.declare(agent("mover", "1.1.0") + STEADY)
    refused = run("up", "-s", "dev")
    assert refused.returncode == 2
    assert "not as committed" in refused.stderr
    assert "agents/declared.yaml" in refused.stderr
    assert writes(sandbox, before) == [], "what is refused writes nothing"

    forced = run("up", "-s", "dev", "--allow-dirty", "trying a fix by hand")
    assert forced.returncode == 0, forced.stderr
    assert project.project.stack().outputs()["dirty"] is True
    assert history(project, "dev")[0]["dirtyReason"] == "trying a fix by hand"

    variables = {"HOLDFAST_OPERATOR": "ci-7", "HOLDFAST_PULL_REQUEST": "12"}
    commit = project.commit("Move to 1.2.0", agent("mover", "1.2.0") + STEADY)
    before = len(sandbox.audit_events())
    done = run("up", "-s", "dev", "-o", "json", variables=variables)
    assert done.returncode == 0, done.stderr
    touched = writes(sandbox, before)
    assert touched, "the commit changes one agent"
    assert all("mover" in uri for uri in touched), "and nothing of the other one"
    outputs = project.project.stack().outputs()
    assert (outputs["commit"], outputs["dirty"]) == (commit, False)

    newest = history(project, "mover", "-s", "dev")[0]
    assert newest == json.loads(done.stdout)["updates"][0] | {"changed": True}
    told = {key: newest[key] for key in ("commit", "author", "pullRequest", "operator", "outcome")}
    assert told == {
        "commit": commit,
        "author": "Ann <ann@example.test>",
        "pullRequest": "12",
        "operator": "ci-7",
        "outcome": "succeeded",
    }
    assert newest["policy"].startswith("passed")
    assert commit not in {each["commit"] for each in history(project, "steady", "-s", "dev")}

    named = run("history", "-s", "dev", "--commit-of", "Deployment/loop/mover", "-o", "json")
    assert json.loads(named.stdout)["commit"] == commit, named.stderr
    assert (
        kubectl.get("deployment", "mover", "-n", "loop")["metadata"]["labels"][
            "app.kubernetes.io/version"
        ]
        == "1.2.0"
    )


def test_status_says_what_runs_from_which_commit_and_who_changed_it(
    project: GitProject, kubectl: Kubectl
) -> None:
    run = project.project.holdfast
    commit = run_git(project.root, "rev-parse", "HEAD")
    kubectl("set", "env", "deployment/mover", "-n", "loop", "HOTFIX=1")
    done = run("status", "mover", "-s", "dev", "-o", "json")
    assert done.returncode == 7, done.stderr
    (told,) = json.loads(done.stdout)["agents"]
    assert (told["sync"], told["commit"]) == ("OutOfSync", commit)
    assert told["version"] == {"declared": "1.2.0", "live": "1.2.0"}
    (drift,) = told["drift"]
    assert "HOTFIX" in drift["what"]
    assert drift["by"][0].startswith("admin, kubectl-set")
    assert run("drift", "revert", "-s", "dev", "--yes").returncode == 0
    newest = history(project, "mover", "-s", "dev")[0]
    assert (newest["action"], newest["outcome"]) == ("revert", "done")
    assert newest["detail"] == "reverted Deployment loop/mover"


def test_a_plain_update_of_pulumi_is_reported_with_its_commit(project: GitProject) -> None:
    commit = project.commit("Move to 1.3.0", agent("mover", "1.3.0") + STEADY)
    project.project.pulumi("up", "--yes", "--skip-preview")
    assert project.project.stack().outputs()["commit"] == commit
    newest = history(project, "dev")[0]
    assert (newest["action"], newest["commit"]) == ("pulumi", commit)
    assert newest["policy"] == "not judged by Holdfast"


def test_what_the_policy_pack_refuses_is_reported_and_writes_nothing(
    project: GitProject, sandbox: LiveSandbox
) -> None:
    file = project.root / "stacks" / "Pulumi.dev.yaml"
    stack = yaml.safe_load(file.read_text())
    rule = "log-retention-and-redaction-declared"
    stack["config"]["holdfast:policy"] = {"rules": {rule: "mandatory"}}
    file.write_text(yaml.safe_dump(stack))
    commit = project.commit("Ask for what nobody has declared")
    before = len(sandbox.audit_events())
    refused = project.project.holdfast("up", "-s", "dev")
    assert refused.returncode == 5, refused.stderr
    assert writes(sandbox, before) == []
    newest = history(project, "dev")[0]
    assert (newest["outcome"], newest["commit"]) == ("refused", commit)
    assert rule in newest["detail"]
