"""Life cycle, rollout and scaling on the real engine, a real API server and real definitions."""

import json
import threading
from pathlib import Path

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.sandbox.bootstrap import NODE_NAMES

from tests.e2e.busy_agents import AGENTS, MODEL, NEWER, declare
from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e


@pytest.fixture
def project(tmp_path: Path, defined_sandbox: LiveSandbox) -> FleetProject:
    copied = FleetProject.copy(tmp_path, defined_sandbox)
    copied.stack().init_if_absent()
    return copied


@pytest.fixture
def place(namespace: str) -> str:
    """Name of a namespace that the stack declares itself."""
    return f"{namespace}-agents"


class HealthyRollouts:
    """Plays the one part of Argo Rollouts that an update waits for: it says they are healthy."""

    def __init__(self, kubectl: Kubectl, namespace: str, *names: str) -> None:
        self._told = threading.Event()
        self._thread = threading.Thread(target=self._tell, args=(kubectl, namespace, names))

    def _tell(self, kubectl: Kubectl, namespace: str, names: tuple[str, ...]) -> None:
        while not self._told.wait(0.5):
            for name in names:
                patch = ("--subresource=status", "--type=merge", "-p")
                found = kubectl.run("get", f"rollout/{name}", "-n", namespace, "-o", "json")
                if found.returncode:
                    continue
                moment = json.loads(found.stdout)["spec"]["restartAt"]
                status = {"phase": "Healthy", "restartedAt": moment}
                what = ("patch", f"rollout/{name}", "-n", namespace)
                kubectl(*what, *patch, json.dumps({"status": status}))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._told.set()
        self._thread.join()


def test_every_field_is_deployed_as_declared_and_then_nothing_drifts(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    declare(project, AGENTS, place)
    stack = project.stack()
    with HealthyRollouts(kubectl, place, "canary", "bluegreen"):
        stack.up()
    code, report = project.drift()
    assert report["findings"] == []
    assert code == 0, report
    assert not stack.preview().steps
    assert not stack.refresh_preview().has_drift

    busy = kubectl.get("pods", "-n", place, "-l", "app.kubernetes.io/name=busy")["items"]
    assert {pod["status"]["qosClass"] for pod in busy} == {"Guaranteed"}
    nodes = {pod["spec"]["nodeName"] for pod in busy}
    assert nodes == {NODE_NAMES[-1]}, "the only node with the device"
    names = [each["name"] for each in busy[0]["spec"]["initContainers"]]
    assert names == ["log-shipper", "telemetry", "cache-warmer", "prestart-1", "prestart-2", "seed"]


def test_a_version_that_fails_its_check_leaves_the_running_one_alone(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    checked = {"model": MODEL, "rollout": {"preflight": {}}, "scaling": {"replicas": 2}}
    declare(project, {"checked": checked}, place)
    project.stack().up()
    before = kubectl.get("deployment/checked", "-n", place)

    reason = {"sandbox.holdfast.dev/fail": "holdfast: model vlm-7b does not answer: status 503"}
    declare(project, {"checked": checked | {"image": NEWER}}, place, annotations=reason)
    with pytest.raises(RunFailedError) as failed:
        project.stack().up()

    text = "\n".join(each.message for each in failed.value.result.errors)
    assert "checked-check" in text
    assert "status 503" in text
    kubectl.wait_for("jsonpath={.status.readyReplicas}=2", "deployment/checked", "-n", place)
    after = kubectl.get("deployment/checked", "-n", place)
    assert after["spec"] == before["spec"]
    [replica_set] = kubectl.get("replicasets", "-n", place)["items"]
    assert replica_set["spec"]["replicas"] == 2

    # The same update is another try, and says again why it failed.
    tried = kubectl.get("job/checked-check", "-n", place)["metadata"]["uid"]
    with pytest.raises(RunFailedError) as failed:
        project.stack().up()
    assert "status 503" in "\n".join(each.message for each in failed.value.result.errors)
    assert kubectl.get("job/checked-check", "-n", place)["metadata"]["uid"] != tried

    declare(project, {"checked": checked | {"image": NEWER}}, place)
    project.stack().up()
    running = kubectl.get("deployment/checked", "-n", place)["spec"]["template"]["spec"]
    assert running["containers"][0]["image"] == NEWER


def test_a_revert_does_not_let_in_an_agent_whose_check_has_failed(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    reason = {"sandbox.holdfast.dev/fail": "holdfast: model vlm-7b does not answer: status 503"}
    fresh = {"model": MODEL, "rollout": {"preflight": {}}}
    declare(project, {"fresh": fresh}, place, annotations=reason)
    with pytest.raises(RunFailedError):
        project.stack().up()
    done = project.holdfast("drift", "revert", "-s", "dev", "--yes")
    assert f"Deployment {place}/fresh  (declared, not deployed: run `holdfast up`)" in done.stderr
    assert not kubectl.get("deployments", "-n", place)["items"]


def test_a_service_that_argo_rollouts_has_moved_is_left_alone_by_updates_and_no_drift(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    agents = {"bluegreen": {"rollout": {"strategy": "BlueGreen"}}}
    declare(project, agents, place)
    with HealthyRollouts(kubectl, place, "bluegreen"):
        project.stack().up()
    moved = json.dumps({"spec": {"selector": {"rollouts-pod-template-hash": "6d8f7c9b4d"}}})
    service = ("patch", "service/bluegreen", "-n", place, "--type=merge", "-p", moved)
    kubectl(*service, "--field-manager=rollouts-controller")
    code, report = project.drift()
    assert (code, report["findings"]) == (0, [])

    declare(project, {"bluegreen": agents["bluegreen"] | {"version": "1.1.0"}}, place)
    with HealthyRollouts(kubectl, place, "bluegreen"):
        project.stack().up()
    live = kubectl.get("service/bluegreen", "-n", place)
    assert live["metadata"]["labels"]["app.kubernetes.io/version"] == "1.1.0"
    assert live["spec"]["selector"]["rollouts-pod-template-hash"] == "6d8f7c9b4d"

    stolen = json.dumps({"spec": {"selector": {"app.kubernetes.io/name": "other"}}})
    kubectl("patch", "service/bluegreen", "-n", place, "--type=merge", "-p", stolen)
    code, report = project.drift()
    assert code == 7
    assert {each["path"].split("[")[0] for each in report["findings"]} == {"spec.selector"}


def test_replicas_moved_by_an_autoscaler_are_no_drift_whatever_runs_the_pods(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    agents = {name: AGENTS[name] for name in ("canary", "sleeper")}
    declare(project, agents, place)
    with HealthyRollouts(kubectl, place, "canary"):
        project.stack().up()
    # Argo Rollouts fills in a first count; before that, a Rollout has no scale.
    first = json.dumps({"spec": {"replicas": 2}})
    patch = ("patch", "rollout/canary", "-n", place, "--type=merge", "-p", first)
    kubectl(*patch, "--field-manager=rollouts-controller")
    assert project.drift()[1]["findings"] == []
    for what, replicas, manager in (
        ("rollout.argoproj.io/canary", 5, "kube-controller-manager"),
        ("deployment/sleeper", 0, "keda"),
    ):
        scale = json.dumps({"spec": {"replicas": replicas}})
        moved = ("--type=merge", "-p", scale, f"--field-manager={manager}")
        kubectl("patch", what, "-n", place, *moved, "--subresource=scale")
    assert project.drift()[1]["findings"] == []
    kubectl(
        "patch",
        "deployment/sleeper",
        "-n",
        place,
        "--type=merge",
        "-p",
        '{"spec": {"replicas": 50}}',
        "--subresource=scale",
    )
    code, report = project.drift()
    assert (code, [each["path"] for each in report["findings"]]) == (7, ["spec.replicas"])


def test_failing_over_moves_the_selector_of_the_service_and_nothing_else(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    spec = {"scaling": {"availability": {"standby": True}}}
    declare(project, {"pair": spec}, place)
    project.stack().up()
    assert kubectl.get("deployment/pair-standby", "-n", place)["status"]["readyReplicas"] == 1

    declare(
        project,
        {"pair": {"scaling": {"availability": {"standby": True, "active": "standby"}}}},
        place,
    )
    result = project.stack().up()
    assert result.counts.get("update") == 1
    selector = kubectl.get("service/pair", "-n", place)["spec"]["selector"]
    assert selector["app.kubernetes.io/name"] == "pair-standby"
    labels = ",".join(f"{key}={value}" for key, value in selector.items())
    [pod] = kubectl.get("pods", "-n", place, "-l", labels)["items"]
    assert pod["metadata"]["name"].startswith("pair-standby-")
    assert project.drift()[0] == 0


def test_a_rolling_update_keeps_as_many_ready_as_it_promises(
    project: FleetProject, place: str, kubectl: Kubectl
) -> None:
    spec = {"scaling": {"replicas": 4}, "rollout": {"maxSurge": 1, "maxUnavailable": 1}}
    declare(project, {"rolling": spec}, place)
    project.stack().up()
    seen: list[int] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            status = kubectl.get("deployment/rolling", "-n", place)["status"]
            seen.append(status.get("availableReplicas", 0))

    watcher = threading.Thread(target=look)
    watcher.start()
    declare(project, {"rolling": spec | {"image": NEWER}}, place)
    try:
        project.stack().up()
    finally:
        ended.set()
        watcher.join()
    assert len(seen) > 1
    assert min(seen) >= 3
