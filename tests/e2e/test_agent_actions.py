"""Named actions on one agent, on the real engine and a real API server: done, told, no drift."""

import json
from typing import Any

import pytest
import yaml

from tests.e2e.git_project import IMAGE, GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

MORE = """\
  scaling: {replicas: 2}
  availability: {standby: true}
"""
KEPT = f"""\
  storage: [{{name: data, size: 1Gi, mountPath: /data}}]
  backup:
    {{method: Job, schedule: "0 3 * * *", image: "{IMAGE}", command: [save], beforeRollout: false}}
"""


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """An agent with a standby, and one whose volume is backed up; deployed."""
    root = tmp_path_factory.mktemp("actions")
    written = GitProject.write(
        root, sandbox, agent("mover", more=MORE) + agent("keeper", more=KEPT)
    )
    done = written.project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    return written


def pods(kubectl: Kubectl) -> dict[str, str]:
    """Pod to its node."""
    found = kubectl.get("pods", "-n", "loop", "-l", "holdfast.dev/agent=mover")["items"]
    return {
        each["metadata"]["name"]: each["spec"]["nodeName"]
        for each in found
        if "deletionTimestamp" not in each["metadata"]
    }


def act(project: GitProject, action: str, *rest: str, name: str = "mover") -> None:
    words = ("agent", action, name, *rest, "-s", "dev", "--reason", "a drill")
    done = project.project.holdfast(*words)
    assert done.returncode == 0, done.stderr


def newest(project: GitProject) -> dict[str, Any]:
    done = project.project.holdfast("history", "mover", "-s", "dev", "-n", "1", "-o", "json")
    (update,) = json.loads(done.stdout)["updates"]
    return dict(update)


def test_a_restart_makes_every_pod_anew_and_leaves_no_drift(
    project: GitProject, kubectl: Kubectl
) -> None:
    before = pods(kubectl)
    act(project, "restart", "--yes")
    after = pods(kubectl)
    assert len(after) == len(before)
    assert not before.keys() & after.keys()
    assert project.project.drift()[0] == 0
    told = newest(project)
    assert (told["action"], told["outcome"], told["reason"]) == ("restart", "done", "a drill")


def test_pods_of_one_node_alone_are_made_anew(project: GitProject, kubectl: Kubectl) -> None:
    before = pods(kubectl)
    node = next(iter(before.values()))
    act(project, "restart", "--node", node, "--yes")
    kept = {name for name, where in before.items() if where != node}
    assert kept <= pods(kubectl).keys()
    assert not (before.keys() - kept) & pods(kubectl).keys()


def test_scale_and_fail_over_go_through_the_stack_file(
    project: GitProject, kubectl: Kubectl
) -> None:
    act(project, "scale", "3")
    act(project, "fail-over")
    file = project.root / "stacks" / "Pulumi.dev.yaml"
    declared = yaml.safe_load(file.read_text())["config"]["holdfast:agents"]["mover"]
    assert declared == {"scaling": {"replicas": 3}, "availability": {"active": "standby"}}
    project.commit("Three, and the standby serves")
    done = project.project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    assert kubectl.get("deployment", "mover", "-n", "loop")["spec"]["replicas"] == 3
    selector = kubectl.get("service", "mover", "-n", "loop")["spec"]["selector"]
    assert "standby" in json.dumps(selector)
    assert project.project.drift()[0] == 0


def test_a_backup_is_made_now_and_is_no_drift(project: GitProject, kubectl: Kubectl) -> None:
    act(project, "backup", "--yes", name="keeper")
    jobs = kubectl.get("jobs", "-n", "loop")["items"]
    (job,) = [each for each in jobs if each["metadata"]["name"].startswith("keeper-backup-")]
    assert job["status"]["succeeded"] == 1
    assert project.project.drift()[0] == 0


def test_what_an_agent_has_not_is_one_clear_error(project: GitProject) -> None:
    done = project.project.holdfast(
        "agent", "backup", "mover", "-s", "dev", "--reason", "x", "--yes"
    )
    assert done.returncode == 1
    assert "mover has no schedule of backups in the cluster" in done.stderr
    assert newest(project)["outcome"] == "not done"
