"""`holdfast agent describe` of a live agent: pods, Jobs, its update, drift and author."""

import json
import time
from typing import Any

import pytest

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

DIGEST = "3c8e1f2a4b5d6c7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e"
HEAD = """\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: {name}, namespace: living}}
spec:
  version: 1.0.0
  image: registry.example/{name}@sha256:{digest}
{spec}
"""
AGENTS = {
    "serving": "  scaling: {replicas: 2}",
    "nightly": '  type: Job\n  job: {schedules: [{id: late, cron: "0 2 * * *"}]}',
}
MANIFESTS = "---\n".join(
    HEAD.format(name=name, digest=DIGEST, spec=spec) for name, spec in AGENTS.items()
)
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    written = FleetProject.write(tmp_path_factory.mktemp("living"), sandbox, MANIFESTS, {})
    stack = written.stack()
    assert stack.init_if_absent()
    stack.up()
    return written


def explained(project: FleetProject, name: str) -> dict[str, Any]:
    done = project.holdfast("agent", "describe", name, "-s", "dev", "--cluster", "-o", "json")
    assert done.returncode == 0, done.stderr
    live: dict[str, Any] = json.loads(done.stdout)["live"]
    return live


def until(project: FleetProject, name: str, phases: set[str]) -> dict[str, Any]:
    """What is said of an agent once its pods are in these phases."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        live = explained(project, name)
        if {pod["phase"] for pod in live["pods"]} == phases or time.monotonic() > deadline:
            return live
        time.sleep(0.5)


def test_what_runs_is_reported_with_node_image_limits_and_the_update_behind_it(
    project: FleetProject,
) -> None:
    live = explained(project, "serving")
    [workload] = live["workloads"]
    assert (workload["object"]["kind"], workload["ready"], workload["desired"]) == (
        "Deployment",
        2,
        2,
    )
    assert live["drift"]["state"] == "Synced"
    assert live["version"] == {"declared": "1.0.0", "live": ["1.0.0"]}
    for pod in live["pods"]:
        assert (pod["phase"], pod["ready"], pod["restarts"]) == ("Running", True, 0)
        assert pod["node"]
        assert pod["images"] == {"agent": f"sha256:{DIGEST}"}
        # Nobody measures here: not known is not zero.
        assert pod["resources"]["cpu"] == {"used": None, "limit": 1.0}
        assert pod["resources"]["memory"] == {"used": None, "limit": float(2**30)}
    assert live["unmeasured"] == "not available: the cluster serves no metrics API"
    assert live["update"]["startedAt"]


def test_a_crash_a_pod_that_is_not_ready_and_who_changed_what(
    project: FleetProject, kubectl: Kubectl
) -> None:
    pods = kubectl.get("pods", "-n", "living", "-l", "holdfast.dev/agent=serving")["items"]
    crash = "sandbox.holdfast.dev/crash=back-off 5m0s restarting failed container"
    kubectl("annotate", "pod", pods[0]["metadata"]["name"], "-n", "living", crash)
    kubectl("label", "service/serving", "-n", "living", "rogue=1", user="alice")
    live = until(project, "serving", {"Running", "CrashLoopBackOff"})
    crashed = next(pod for pod in live["pods"] if pod["phase"] == "CrashLoopBackOff")
    assert (crashed["ready"], crashed["restarts"]) == (False, 5)
    assert crashed["message"].startswith("back-off 5m0s")
    assert live["drift"]["state"] == "OutOfSync"
    [finding] = live["drift"]["findings"]
    assert finding["path"] == "metadata.labels.rogue"
    assert finding["actors"][0]["user"] == "alice@example.test"

    said = project.holdfast("agent", "describe", "serving", "-s", "dev").stdout
    assert "CrashLoopBackOff, not ready, 5 restarts" in said
    assert "Deployment living/serving: 1 of 2 ready" in said
    assert "metadata.labels.rogue was added but is not declared: 1, by alice@" in said
    kubectl("label", "service/serving", "-n", "living", "rogue-", user="alice")


def test_a_run_that_failed_and_one_that_ended_are_distinguished(
    project: FleetProject, kubectl: Kubectl
) -> None:
    kubectl("create", "job", "good", "--from=cronjob/nightly-late", "-n", "living")
    job = kubectl.get("job/good", "-n", "living")
    template = {
        "metadata": {
            "labels": {"holdfast.dev/agent": "nightly"},
            "annotations": {"sandbox.holdfast.dev/fail": "no tokens left"},
        },
        "spec": job["spec"]["template"]["spec"],
    }
    bad = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "bad",
            "namespace": "living",
            "labels": {"holdfast.dev/agent": "nightly"},
        },
        "spec": {"backoffLimit": 0, "template": template},
    }
    kubectl.apply(bad)
    kubectl.wait_for("condition=failed", "job/bad", "-n", "living", seconds=WAIT_SECONDS)
    kubectl.wait_for("condition=complete", "job/good", "-n", "living", seconds=WAIT_SECONDS)
    live = explained(project, "nightly")
    jobs = {each["name"]: (each["outcome"], each["reason"]) for each in live["jobs"]}
    assert jobs["good"] == ("complete", "")
    assert jobs["bad"][0] == "failed"
    assert jobs["bad"][1].startswith("BackoffLimitExceeded")
    messages = {pod["message"] for pod in live["pods"]}
    assert "no tokens left" in messages


def test_a_cluster_that_does_not_answer_is_said_not_guessed(
    project: FleetProject, sandbox: LiveSandbox
) -> None:
    stack = project.root / "stacks" / "Pulumi.dev.yaml"
    stack.write_text(stack.read_text().replace(sandbox.context, "holdfast-gone"))
    done = project.holdfast("agent", "describe", "serving", "-s", "dev")
    assert done.returncode == 0
    assert "not known: stack dev lives in sandbox 'gone', which does not exist" in done.stdout
    done = project.holdfast("agent", "describe", "serving", "-s", "dev", "--cluster")
    assert done.returncode == 2
    done = project.holdfast("agent", "describe", "serving", "-s", "dev", "--no-cluster")
    assert (done.returncode, "Runs now" in done.stdout) == (0, False)
