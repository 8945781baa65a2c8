"""What a cluster does to an update: never silent, never half told, and the next one goes on.

Rows 38 and 41 to 44 of the fault matrix, on the real engine and a real API server.
"""

import json
import subprocess
import time
from typing import Any

import pytest

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

QUICK = "  rollout: {progressDeadlineSeconds: 15}\n"
HELD = "metadata: {annotations: {sandbox.holdfast.dev/hold: 'true'}, name: bee"
FEW = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "loop"},
    "spec": {"hard": {"count/deployments.apps": "4"}},
}
NO_BEE: tuple[dict[str, Any], ...] = (
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-bee"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["deployments"],
                    }
                ]
            },
            "validations": [
                {"expression": "object.metadata.name != 'bee'", "message": "bees are not admitted"}
            ],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-bee"},
        "spec": {"policyName": "no-bee", "validationActions": ["Deny"]},
    },
)


def agents(*names: str, version: str = "1.0.0") -> str:
    return "".join(agent(name, version, QUICK) for name in names)


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> GitProject:
    """Three agents in a repository, not deployed yet."""
    root = tmp_path_factory.mktemp("faults")
    return GitProject.write(root, sandbox, agents("ant", "bee", "cat"))


def up(project: GitProject, *options: str) -> "subprocess.CompletedProcess[str]":
    return project.project.holdfast("up", "-s", "dev", *options)


def deployments(kubectl: Kubectl) -> list[str]:
    return [each["metadata"]["name"] for each in kubectl.get("deploy", "-n", "loop")["items"]]


def refuses(kubectl: Kubectl, manifest: dict[str, Any]) -> bool:
    trial = kubectl.run("create", "--dry-run=server", "-f", "-", stdin=json.dumps(manifest))
    return bool(trial.returncode)


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "x", "image": "x"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def test_row_41_what_admission_denies_keeps_no_other_agent_back(
    project: GitProject, kubectl: Kubectl
) -> None:
    kubectl.apply(*NO_BEE)
    deadline = time.monotonic() + 60
    while not refuses(kubectl, deployment("bee")):
        assert time.monotonic() < deadline, "the policy must come into force"
        time.sleep(0.5)
    done = up(project, "--continue-on-error")
    assert done.returncode == 1
    assert "bee-deployment: not created: " in done.stderr
    assert "denied request: bees are not admitted; declare what no-bee asks for" in done.stderr
    # Its rules of the network narrow only when its new version is ready.
    left = "  create   Deployment loop/bee\n  create   NetworkPolicy loop/bee\n"
    assert f"not done: 2 of 19 objects\n{left}" in done.stderr
    assert deployments(kubectl) == ["ant", "cat"]
    newest = json.loads(project.project.holdfast("history", "dev", "-o", "json").stdout)["updates"]
    assert newest[0]["outcome"] == "failed"
    assert newest[0]["detail"].startswith("2 objects of bee not done: up failed: bee-deployment")
    kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "no-bee")
    deadline = time.monotonic() + 60
    while refuses(kubectl, deployment("bee")):
        assert time.monotonic() < deadline, "the policy must go"
        time.sleep(0.5)
    again = up(project)
    assert again.returncode == 0, again.stderr
    assert deployments(kubectl) == ["ant", "bee", "cat"]
    assert project.project.drift()[0] == 0


def test_row_42_a_quota_leaves_what_was_done_recorded_and_the_rest_listed(
    project: GitProject, kubectl: Kubectl
) -> None:
    kubectl.apply(FEW)
    project.commit("Three more", agents("ant", "bee", "cat", "dog", "elk", "fox"))
    done = up(project, "--continue-on-error")
    assert done.returncode == 1
    assert "exceeded quota: few" in done.stderr
    assert "raise quota few or declare less, and run it again" in done.stderr
    assert "not done: 4 of 18 objects\n  create   Deployment loop/" in done.stderr
    assert len(deployments(kubectl)) == 4
    kubectl("delete", "resourcequota", "few", "-n", "loop")
    again = up(project)
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("would create   ") == 4, (
        "what was done is recorded, and not done again"
    )
    assert len(deployments(kubectl)) == 6
    assert project.project.drift()[0] == 0


def test_row_43_what_never_became_ready_is_tried_again_by_the_next_update(
    project: GitProject, kubectl: Kubectl
) -> None:
    project.commit("Hold", agents("ant", "bee").replace("metadata: {name: bee", HELD))
    failed = up(project)
    assert failed.returncode == 1
    assert '"loop/bee" failed to fully initialize or become live' in failed.stderr
    assert "correct what keeps it from being ready, and run it again" in failed.stderr
    again = up(project)
    assert again.returncode == 1, "it is not taken for done"
    assert "would update   Deployment loop/bee" in again.stderr
    project.commit("Let go", agents("ant", "bee"))
    done = up(project)
    assert done.returncode == 0, done.stderr
    assert deployments(kubectl) == ["ant", "bee"]


def test_row_38_a_conflict_names_the_manager_and_its_fields_and_is_reverted(
    project: GitProject, kubectl: Kubectl
) -> None:
    container = {"name": "agent", "image": "registry.example/evil:1"}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    who = ("--field-manager=dashboard", f"-p={json.dumps(patch)}")
    kubectl("patch", "deployment", "ant", "-n", "loop", *who)
    project.commit("Move", agents("ant", "bee", "cat", version="2.0.0"))
    done = up(project)
    assert done.returncode == 1
    assert (
        'loop/ant: field manager dashboard has changed .spec.template.spec.containers[name="agent"]'
        ".image, which holdfast declares; run 'holdfast drift revert -s dev'" in done.stderr
    )
    done = project.project.holdfast("drift", "revert", "-s", "dev", "--yes")
    assert "reverted: Deployment loop/ant\n" in done.stderr
    assert done.returncode == 7, "what was declared since the last update is left to the next"
    again = up(project)
    assert again.returncode == 0, again.stderr
    assert project.project.drift()[0] == 0


def test_row_44_a_namespace_that_does_not_end_is_reported_with_what_it_waits_for(
    project: GitProject, kubectl: Kubectl
) -> None:
    kubectl("create", "namespace", "den")
    metadata = {"name": "stuck", "namespace": "den", "finalizers": ["holdfast.test/stuck"]}
    kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    kubectl("delete", "namespace", "den", "--wait=false")
    fox = agents("fox").replace("namespace: loop", "namespace: den")
    project.commit("One more, elsewhere", agents("ant", "bee", "cat", version="2.0.0") + fox)
    done = up(project, "--continue-on-error")
    assert done.returncode == 1
    assert "namespace den is being deleted: 'kubectl get namespace den -o yaml' says" in done.stderr
    code, report = project.project.drift()
    assert code == 7
    classes = {each["object"]["kind"]: each["class"] for each in report["findings"]}
    assert (classes["Namespace"], classes["Deployment"]) == ("terminating", "missing")
    unstick = '[{"op": "remove", "path": "/metadata/finalizers"}]'
    kubectl("patch", "configmap", "stuck", "-n", "den", "--type=json", "-p", unstick)
    kubectl.wait_for("delete", "namespace/den", seconds=120)
    gone = up(project)
    assert "run 'holdfast drift revert -s dev', then this again" in gone.stderr
    reverted = project.project.holdfast("drift", "revert", "-s", "dev", "--yes")
    assert "recreated: Namespace den\n" in reverted.stderr
    again = up(project)
    assert again.returncode == 0, again.stderr
    assert kubectl.get("deploy", "-n", "den")["items"]
    assert project.project.drift()[0] == 0
