"""Agents that leave a stack and return, a stack that is destroyed and deployed again: data stay."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet_project import FleetProject
from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

STORAGE = "  storage: {volumes: [{name: data, size: 1Gi, mountPath: /data}]}\n"
REUSED = "  storage: {volumes: [{name: data, existingClaim: keeper-data, mountPath: /data}]}\n"
KEEPER, PLAIN = agent("keeper", more=STORAGE), agent("plain")
CLAIM = "PersistentVolumeClaim loop/keeper-data"


def uid_of(kubectl: Kubectl, *what: str) -> str:
    """Uid of a live object."""
    return str(kubectl.get(*what)["metadata"]["uid"])


def claim_uid(kubectl: Kubectl) -> str:
    """Uid of the agent's claim."""
    return uid_of(kubectl, "pvc", "keeper-data", "-n", "loop")


def up(project: FleetProject) -> str:
    """What a successful update says."""
    done = project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    return done.stderr


def remarks(project: FleetProject) -> list[tuple[str, str]]:
    """Class and object of each finding of a scan in sync, without namespaces of other tests."""
    code, report = project.drift()
    assert code == 0, report
    found = [(each["class"], each["object"]) for each in report["findings"]]
    return [(name, f"{one['kind']} {one['name']}") for name, one in found
            if one["kind"] != "Namespace"]  # fmt: skip


def test_an_agent_goes_with_one_update_and_its_claim_waits_for_its_return(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    git = GitProject.write(tmp_path, sandbox, KEEPER + PLAIN)
    project = git.project
    up(project)
    uid = claim_uid(kubectl)

    git.commit("Remove keeper", PLAIN)
    said = up(project)
    assert f"would keep     {CLAIM}" in said
    assert "preview: 6 delete, 1 keep" in said
    assert f"kept in the cluster: {CLAIM}" in said
    assert "delete   PersistentVolumeClaim" not in said
    assert claim_uid(kubectl) == uid
    assert remarks(project) == [("unmanaged", "PersistentVolumeClaim keeper-data")]
    [update, *_] = json.loads(project.holdfast("history", "-s", "dev", "-o", "json").stdout)[
        "updates"
    ]
    changes = {key: count for key, count in update["changes"].items() if key != "same"}
    assert changes == {"delete": 6, "keep": 1}
    assert update["kept"] == [f"{CLAIM} v1 {uid}"]
    assert "preview: no changes" in up(project)

    git.commit("Take keeper back", KEEPER + PLAIN)
    said = up(project)
    assert f"adopt    {CLAIM}" in said
    assert "6 create, 1 adopt" in said or "1 adopt, 6 create" in said
    assert claim_uid(kubectl) == uid
    assert remarks(project) == []


def test_a_namespace_stays_when_its_last_agent_goes_and_with_it_the_claims_kept_earlier(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    git = GitProject.write(tmp_path, sandbox, KEEPER + PLAIN)
    project = git.project
    up(project)
    uid = claim_uid(kubectl)
    git.commit("Remove keeper", PLAIN)
    up(project)
    git.commit("Another namespace", PLAIN.replace("namespace: loop", "namespace: elsewhere"))
    assert "keep     Namespace loop" in up(project)
    assert claim_uid(kubectl) == uid
    assert ("unmanaged", "PersistentVolumeClaim keeper-data") in remarks(project)


def test_an_agent_with_data_does_not_move_to_a_namespace_without_them(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    git = GitProject.write(tmp_path, sandbox, KEEPER)
    project = git.project
    up(project)
    uid = claim_uid(kubectl)
    git.commit("Move keeper", KEEPER.replace("namespace: loop", "namespace: elsewhere"))
    refused = project.holdfast("up", "-s", "dev")
    assert refused.returncode == 2, refused.stderr
    assert f"{CLAIM} cannot move to another namespace" in refused.stderr
    git.commit("Rename keeper, on the claim of before", agent("renamed", more=REUSED))
    up(project)
    assert claim_uid(kubectl) == uid
    volumes = kubectl.get("deployment", "renamed", "-n", "loop")["spec"]["template"]["spec"]
    claims = [each["persistentVolumeClaim"]["claimName"] for each in volumes["volumes"]
              if "persistentVolumeClaim" in each]  # fmt: skip
    assert claims == ["keeper-data"]


def test_a_destroyed_stack_leaves_data_and_is_deployed_again_on_them(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    project = GitProject.write(tmp_path, sandbox, KEEPER).project
    up(project)
    uid, namespace = claim_uid(kubectl), uid_of(kubectl, "namespace", "loop")
    project.pulumi("state", "unprotect", "--all", "--yes")
    project.pulumi("destroy", "--yes", "--skip-preview")
    assert kubectl.get("deployments", "-n", "loop")["items"] == []
    assert claim_uid(kubectl) == uid

    said = up(project)
    assert f"adopt    {CLAIM}" in said
    assert "adopt    Namespace loop" in said
    assert (claim_uid(kubectl), uid_of(kubectl, "namespace", "loop")) == (uid, namespace)
    assert remarks(project) == []


def test_a_claim_of_somebody_else_under_the_same_name_is_not_called_kept(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    git = GitProject.write(tmp_path, sandbox, KEEPER + PLAIN)
    project = git.project
    up(project)
    claim: dict[str, Any] = kubectl.get("pvc", "keeper-data", "-n", "loop")
    git.commit("Remove keeper", PLAIN)
    up(project)
    kubectl("delete", "pvc", "keeper-data", "-n", "loop")
    for name in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "finalizers"):
        claim["metadata"].pop(name, None)
    claim["spec"].pop("volumeName", None)
    claim.pop("status", None)
    kubectl.apply(claim, user="admin")
    assert remarks(project) == []


def test_an_update_without_a_change_names_the_drift_that_it_leaves(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    project = GitProject.write(tmp_path, sandbox, PLAIN).project
    assert "equal: compared" in up(project)
    kubectl("scale", "deployment/plain", "-n", "loop", "--replicas=0", user="alice")
    said = up(project)
    assert "no changes" in said
    assert "not equal: Deployment plain spec.replicas" in said
    updates = json.loads(project.holdfast("history", "dev", "-o", "json").stdout)["updates"]
    assert updates[0]["proof"].startswith("not equal: Deployment plain spec.replicas")
    assert kubectl.get("deployment/plain", "-n", "loop")["spec"]["replicas"] == 0
