"""What goes wrong with pods, runs and nodes is seen by the operator, and answered as declared."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.fleet_project import FleetProject
from tests.e2e.git_project import IMAGE
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.operating import Operating, eventually, operating

pytestmark = pytest.mark.e2e

PLACE = ("-n", "failing")
HEAD = f"""\
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: %s, namespace: failing}}
spec:
  version: %s
  image: {IMAGE}
"""
SPARE = "  scaling: {availability: {standby: true, failover: automatic, failoverAfter: 2s}}\n"
NIGHTLY = '  type: Job\n  job: {schedules: [{id: late, cron: "0 2 1 1 *"}]}\n'


def manifests(version: str) -> str:
    nightly = HEAD % ("nightly", "1.0.0") + NIGHTLY
    return HEAD % ("spare", version) + SPARE + HEAD % ("plain", "1.0.0") + nightly


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """A stack in mode observe: one agent with a standby, one without, one that runs as a job."""
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    settings = {"agentResources": {"mode": "observe"}, "namespace": "failing"}
    root = tmp_path_factory.mktemp("failing")
    project = FleetProject.write(root, sandbox, manifests("1.0.0"), settings)
    stack = project.stack()
    stack.init_if_absent()
    stack.up()
    return project


@pytest.fixture(scope="module")
def operator(project: FleetProject) -> Iterator[Operating]:
    with operating(project.sandbox.kubeconfig(), "dev") as operator:
        operator.wait_for(phase="lead")
        yield operator


def condition(kubectl: Kubectl, agent: str, name: str) -> tuple[str, str]:
    status = kubectl.get(f"agent/{agent}", *PLACE).get("status", {})
    found = {each["type"]: each for each in status.get("conditions", ())}
    each = found.get(name, {"status": "", "reason": ""})
    return each["status"], each["reason"]


def serves(kubectl: Kubectl) -> str:
    selector = kubectl.get("service/spare", *PLACE)["spec"]["selector"]
    return str(selector["app.kubernetes.io/name"])


def test_a_standby_takes_over_from_pods_that_crash_and_stays_through_updates(
    operator: Operating, kubectl: Kubectl, project: FleetProject
) -> None:
    kubectl.wait_for("condition=Ready", "agent/spare", *PLACE, seconds=170)
    assert condition(kubectl, "spare", "FailedOver") == ("False", "AsDeclared")
    selected = ("-l", "app.kubernetes.io/name=spare")
    kubectl("annotate", "pod", *selected, *PLACE, "sandbox.holdfast.dev/crash=out of memory")
    eventually(lambda: serves(kubectl) == "spare-standby", "the standby takes over")
    eventually(lambda: condition(kubectl, "spare", "FailedOver") == ("True", "Moved"), "it is told")
    assert condition(kubectl, "spare", "Ready") == ("False", "CrashLoopBackOff")
    assert condition(kubectl, "spare", "Drifted") == ("False", "InSync")
    assert operator.metric("holdfast_operator_reconciles_total", action="fail-over") == 1
    events = kubectl.get("events", *PLACE)["items"]
    assert ("spare", "Moved") in {(one["involvedObject"]["name"], one["reason"]) for one in events}
    assert project.drift()[0] == 0
    said = project.holdfast("agent", "describe", "spare", "-s", "dev", "--cluster").stdout
    assert "CrashLoopBackOff, not ready, 5 restarts" in said

    project.declare(manifests("2.0.0"))
    project.stack().up()
    service = kubectl.get("service/spare", *PLACE)
    assert service["metadata"]["labels"]["app.kubernetes.io/version"] == "2.0.0"
    assert serves(kubectl) == "spare-standby"
    assert project.drift()[0] == 0
    kubectl.wait_for("condition=Ready", "agent/spare", *PLACE, seconds=170)


def test_a_run_that_failed_is_reported_until_one_ends_well(
    operator: Operating, kubectl: Kubectl
) -> None:
    del operator
    schedule = kubectl.get("cronjob/nightly-late", *PLACE)

    def run(name: str, annotations: dict[str, str]) -> None:
        template = schedule["spec"]["jobTemplate"]
        pod = template["spec"]["template"]
        marks = pod["metadata"] | {"annotations": annotations}
        owner = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "name": "nightly-late",
            "uid": schedule["metadata"]["uid"],
        }
        labels = template["metadata"]["labels"]
        metadata = {"name": name, "namespace": "failing", "labels": labels}
        job: dict[str, Any] = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata | {"ownerReferences": [owner]},
            "spec": template["spec"] | {"backoffLimit": 0, "template": pod | {"metadata": marks}},
        }
        kubectl.apply(json.loads(json.dumps(job)))

    eventually(
        lambda: condition(kubectl, "nightly", "LastRun") == ("Unknown", "NoRunYet"), "nothing ran"
    )
    run("bad", {"sandbox.holdfast.dev/fail": "no tokens left"})
    eventually(lambda: condition(kubectl, "nightly", "LastRun") == ("False", "Failed"), "it failed")
    run("good", {})
    eventually(lambda: condition(kubectl, "nightly", "LastRun") == ("True", "Complete"), "it ended")


def test_pods_that_find_no_node_are_reported(operator: Operating, kubectl: Kubectl) -> None:
    del operator
    nodes = [each["metadata"]["name"] for each in kubectl.get("nodes")["items"]]
    kubectl("cordon", *nodes)
    try:
        kubectl("delete", "pod", "-l", "app.kubernetes.io/name=plain", *PLACE, "--wait=false")
        eventually(
            lambda: condition(kubectl, "plain", "Ready") == ("False", "Unschedulable"),
            "nothing takes it",
        )
    finally:
        kubectl("uncordon", *nodes)
    kubectl.wait_for("condition=Ready", "agent/plain", *PLACE, seconds=170)
