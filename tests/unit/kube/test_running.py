"""State of pods, Jobs and nodes."""

from fractions import Fraction
from typing import Any

import pytest
from holdfast.kube.objects import KubeObject
from holdfast.kube.running import NODE_GONE, job_state, node_trouble, pod_state

IMAGE_ID = "registry.example/agent@sha256:" + "1" * 64


def pod(
    status: dict[str, Any], metadata: dict[str, Any] | None = None, **limits: str
) -> KubeObject:
    container: dict[str, Any] = {"name": "agent", "image": "x"}
    if limits:
        container["resources"] = {"limits": limits}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one", **(metadata or {})},
        "spec": {"nodeName": "n1", "containers": [container]},
        "status": status,
    }


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"name": "agent", "restartCount": 4, "state": state}


@pytest.mark.parametrize(
    ("status", "metadata", "phase", "message"),
    [
        pytest.param({"phase": "Running"}, {}, "Running", "", id="running"),
        pytest.param(
            {"phase": "Running", "containerStatuses": [waiting("CrashLoopBackOff", "back-off")]},
            {},
            "CrashLoopBackOff",
            "back-off",
            id="crash loop",
        ),
        pytest.param(
            {"phase": "Pending", "containerStatuses": [waiting("ContainerCreating")]},
            {},
            "Pending",
            "",
            id="starting",
        ),
        pytest.param(
            {
                "phase": "Pending",
                "initContainerStatuses": [waiting("ImagePullBackOff", "no image")],
            },
            {},
            "Init:ImagePullBackOff",
            "no image",
            id="init container without image",
        ),
        pytest.param(
            {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "message": "0/3 nodes available"}
                ],
            },
            {},
            "Pending",
            "0/3 nodes available",
            id="no node",
        ),
        pytest.param(
            {"phase": "Failed", "reason": "Evicted", "message": "disk"},
            {},
            "Failed (Evicted)",
            "disk",
            id="evicted",
        ),
        pytest.param(
            {
                "phase": "Failed",
                "containerStatuses": [{"name": "agent", "state": {"terminated": {"exitCode": 3}}}],
            },
            {},
            "Failed",
            "exit code 3",
            id="ended badly",
        ),
        pytest.param(
            {"phase": "Running"}, {"deletionTimestamp": "now"}, "Terminating", "", id="going"
        ),
        pytest.param({}, {}, "Unknown", "", id="nothing said"),
    ],
)
def test_a_pod_is_what_it_is_stuck_in(
    status: dict[str, Any], metadata: dict[str, Any], phase: str, message: str
) -> None:
    state = pod_state(pod(status, metadata), None)
    assert (state.phase, state.message) == (phase, message)


def test_a_pod_tells_readiness_restarts_node_and_the_digest_that_was_resolved() -> None:
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "agent", "restartCount": 2, "imageID": IMAGE_ID}],
    }
    state = pod_state(pod(status), None)
    assert (state.is_ready, state.restarts, state.node) == (True, 2, "n1")
    assert state.images == {"agent": "sha256:" + "1" * 64}


def test_use_is_measured_against_limits_and_absent_is_not_zero() -> None:
    usage = {"containers": [{"name": "agent", "usage": {"cpu": "250m", "memory": "64Mi"}}]}
    cpu, memory = pod_state(pod({}, cpu="1"), usage).consumption
    assert (cpu.used, cpu.limit) == (Fraction(1, 4), Fraction(1))
    assert (memory.used, memory.limit) == (Fraction(64 * 2**20), None)
    cpu, memory = pod_state(pod({}, cpu="1"), None).consumption
    assert (cpu.used, memory.used) == (None, None)


@pytest.mark.parametrize(
    ("spec", "conditions", "expected"),
    [
        pytest.param({}, [], ("running", ""), id="running"),
        pytest.param({"suspend": True}, [], ("suspended", ""), id="suspended"),
        pytest.param({}, [{"type": "Complete", "status": "True"}], ("complete", ""), id="complete"),
        pytest.param(
            {},
            [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "late"}],
            ("failed", "DeadlineExceeded: late"),
            id="failed",
        ),
        pytest.param({}, [{"type": "Complete", "status": "False"}], ("running", ""), id="not yet"),
    ],
)
def test_a_job_has_one_outcome(
    spec: dict[str, Any], conditions: list[dict[str, str]], expected: tuple[str, str]
) -> None:
    job = {"kind": "Job", "metadata": {"name": "one"}, "spec": spec}
    state = job_state(job | {"status": {"conditions": conditions}})
    assert (state.outcome, state.reason) == expected


def node(ready: str, **spec: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready, "reason": "NodeStatusUnknown"}]
    return {"spec": spec, "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("live", "trouble"),
    [
        pytest.param(node("True"), "", id="takes pods"),
        pytest.param(node("True", unschedulable=True), "it is cordoned", id="cordoned"),
        pytest.param(node("Unknown"), "it is not ready: NodeStatusUnknown", id="lost"),
        pytest.param({"spec": {}}, "it is not ready: it says nothing", id="never seen"),
        pytest.param(None, NODE_GONE, id="gone"),
    ],
)
def test_a_node_says_why_it_is_to_be_left(live: dict[str, Any] | None, trouble: str) -> None:
    assert node_trouble(live) == trouble
