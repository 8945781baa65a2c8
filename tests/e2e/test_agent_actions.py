"""Named actions on one agent, on the real engine and a real API server: done, told, no drift."""

import json
import subprocess
from typing import Any

import pytest
import yaml

from tests.e2e.git_project import IMAGE, GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

MORE = """\
  scaling: {replicas: 2, availability: {standby: true}}
"""
VOLUME = "  storage: {volumes: [{name: data, size: 1Gi, mountPath: /data}]}\n"
KEPT = f"""\
  storage:
    volumes: [{{name: data, size: 1Gi, mountPath: /data}}]
    backup:
      {{method: Job, schedule: "0 3 * * *", image: "{IMAGE}", command: [save],
        beforeRollout: false}}
"""


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """Agents with a standby, with backups, and with a volume; deployed."""
    root = tmp_path_factory.mktemp("actions")
    defined = sandbox.run("up", "--with", "volume-snapshots")
    assert defined.returncode == 0, defined.stderr
    agents = {"mover": MORE, "keeper": KEPT, "filled": VOLUME}
    manifests = "".join(agent(name, more=more) for name, more in agents.items())
    settings = {"controllers": ["volume-snapshots"]}
    written = GitProject.write(root, sandbox, manifests, settings)
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
    done = project.project.holdfast("history", "mover", "-s", "dev", "--limit", "1", "-o", "json")
    (update,) = json.loads(done.stdout)["updates"]
    return dict(update)


def test_a_restart_recreates_every_pod_and_leaves_no_drift(
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


def test_pods_of_one_node_alone_are_recreated(project: GitProject, kubectl: Kubectl) -> None:
    before = pods(kubectl)
    node = next(iter(before.values()))
    act(project, "restart", "--node", node, "--yes")
    kept = {name for name, where in before.items() if where != node}
    assert kept <= pods(kubectl).keys()
    assert not (before.keys() - kept) & pods(kubectl).keys()


def test_what_stands_on_a_cordoned_node_goes_elsewhere(
    project: GitProject, kubectl: Kubectl
) -> None:
    before = pods(kubectl)
    node = next(iter(before.values()))
    words = ("agent", "evacuate", "mover", "-s", "dev", "--reason", "a drill", "--node", node)
    refused = project.project.holdfast(*words, "--yes")
    assert (refused.returncode, f"node {node} takes pods" in refused.stderr) == (2, True)
    kubectl("cordon", node)
    try:
        planned = project.project.holdfast(*words, "--dry-run", "-o", "json")
        steps = json.loads(planned.stdout)["steps"]
        there = {name for name, where in before.items() if where == node}
        assert {each["object"]["name"] for each in steps} == there
        assert pods(kubectl) == before
        act(project, "evacuate", "--yes")
        after = pods(kubectl)
        assert node not in after.values()
        assert len(after) == len(before)
    finally:
        kubectl("uncordon", node)
    assert project.project.drift()[0] == 0
    assert (newest(project)["action"], newest(project)["outcome"]) == ("evacuate", "done")


def test_what_runs_is_recreated_and_what_holds_data_stays(
    project: GitProject, kubectl: Kubectl
) -> None:
    def uid(*what: str) -> str:
        return str(kubectl.get(*what, "-n", "loop")["metadata"]["uid"])

    deployment, service = uid("deployment/keeper"), uid("service/keeper")
    claim = uid("pvc/keeper-data")
    act(project, "recreate", "--yes", name="keeper")
    assert uid("deployment/keeper") != deployment
    assert (uid("service/keeper"), uid("pvc/keeper-data")) == (service, claim)
    act(project, "recreate", "--all", "--yes", name="keeper")
    assert uid("service/keeper") != service
    assert uid("pvc/keeper-data") == claim
    assert project.project.drift()[0] == 0
    assert project.project.holdfast("status", "keeper", "-s", "dev").returncode == 0


def test_fields_go_through_the_stack_file(project: GitProject, kubectl: Kubectl) -> None:
    act(project, "set", "scaling.replicas=3")
    act(project, "set", "scaling.availability.active=standby")
    act(project, "set", "container.resources.limits.memory=2Gi")
    file = project.root / "stacks" / "Pulumi.dev.yaml"
    declared = yaml.safe_load(file.read_text())["config"]["holdfast:agents"]["mover"]
    assert declared == {
        "scaling": {"replicas": 3, "availability": {"active": "standby"}},
        "container": {"resources": {"limits": {"memory": "2Gi"}}},
    }
    project.commit("Three, and the standby serves")
    done = project.project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    assert kubectl.get("deployment", "mover", "-n", "loop")["spec"]["replicas"] == 3
    selector = kubectl.get("service", "mover", "-n", "loop")["spec"]["selector"]
    assert "standby" in json.dumps(selector)
    assert project.project.drift()[0] == 0
    told = project.project.holdfast("history", "mover", "-s", "dev").stdout
    assert not [each for each in ("restart", "evacuate", "set") if each not in told], told


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


def test_a_claim_makes_way_for_one_from_a_snapshot_and_its_data_is_kept(
    project: GitProject, kubectl: Kubectl
) -> None:
    words = ("agent", "restore", "filled", "-s", "dev", "--reason", "a drill")

    def restore(*rest: str) -> "subprocess.CompletedProcess[str]":
        return project.project.holdfast(*words, *rest)

    listed = project.project.holdfast(*words[: words.index("--reason")])
    assert "filled has no backups in the cluster" in listed.stdout
    snapshot = {
        "apiVersion": "snapshot.storage.k8s.io/v1",
        "kind": "VolumeSnapshot",
        "metadata": {"name": "monday", "namespace": "loop"},
        "spec": {"source": {"persistentVolumeClaimName": "filled-data"}},
    }
    kubectl.apply(snapshot)
    refused = restore("--from", "monday", "--yes")
    assert (refused.returncode, "monday is not ready to be used" in refused.stderr) == (2, True)
    ready = json.dumps({"status": {"readyToUse": True, "creationTime": "2026-11-16T03:00:00Z"}})
    options = ("-n", "loop", "--subresource=status", "--type=merge", "-p", ready)
    kubectl("patch", "volumesnapshot", "monday", *options)
    header, row = restore().stdout.splitlines()
    assert header.split() == ["MADE", "AT", "KIND", "NAME", "CLAIM", "USABLE"]
    monday = ["2026-11-16T03:00:00Z", "VolumeSnapshot", "monday", "filled-data", "yes"]
    assert row.split() == monday

    before = kubectl.get("pvc/filled-data", "-n", "loop")
    refused = restore("--from", "monday", "--set-aside", "--yes")
    assert refused.returncode == 2
    assert "PersistentVolumeClaim loop/filled-data is in use by pod filled-" in refused.stderr
    act(project, "set", "scaling.replicas=0", name="filled")
    project.commit("Nothing writes meanwhile")
    assert project.project.holdfast("up", "-s", "dev").returncode == 0
    gone = ("pod", "-n", "loop", "-l", "app.kubernetes.io/name=filled", "--timeout=120s")
    kubectl("wait", "--for=delete", *gone)
    refused = restore("--from", "monday", "--yes")
    assert refused.returncode == 2
    assert "a claim is filled only when it is made; add --set-aside" in refused.stderr
    assert "no VolumeSnapshot loop/tuesday" in restore("--from", "tuesday").stderr
    assert kubectl.get("pvc/filled-data", "-n", "loop")["metadata"] == before["metadata"]

    done = restore("--from", "monday", "--set-aside", "--yes", "-o", "json")
    assert done.returncode == 0, done.stderr
    deeds = [
        (step["operation"], (step["object"] or {}).get("kind"))
        for step in json.loads(done.stdout)["steps"]
    ]
    assert deeds == [
        ("keep", "PersistentVolume"),
        ("delete", "PersistentVolumeClaim"),
        ("declare", None),
    ]
    project.commit("From Monday's")
    updated = project.project.holdfast("up", "-s", "dev")
    assert updated.returncode == 0, updated.stderr
    claim = kubectl.get("pvc/filled-data", "-n", "loop")
    assert claim["metadata"]["uid"] != before["metadata"]["uid"]
    assert claim["spec"]["dataSource"]["name"] == "monday"
    volume = kubectl.get(f"pv/{before['spec']['volumeName']}")
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert project.project.drift()[0] == 0
    assert (
        "restore from monday" in project.project.holdfast("history", "filled", "-s", "dev").stdout
    )
