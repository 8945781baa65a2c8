"""Whether a workload does its work."""

from typing import Any

import pytest
from holdfast.kube.workload_status import (
    HEALTHY,
    Health,
    HealthVerdict,
    health_of,
    is_observed,
    readiness_of,
    workload_state,
    worst,
)


def workload(kind: str, status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"generation": 2}, "spec": spec, "status": status}


SEEN = {"observedGeneration": 2}
READY = SEEN | {"updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}


@pytest.mark.parametrize(
    ("live", "health", "reason"),
    [
        pytest.param(workload("Deployment", READY, replicas=2), "Healthy", "", id="ready"),
        pytest.param(
            workload("Deployment", READY | {"observedGeneration": 1}, replicas=2),
            "Progressing",
            "its controller has not seen the last change",
            id="a status of the version before",
        ),
        pytest.param(
            workload("Deployment", {}),
            "Unknown",
            "no controller has said anything of it",
            id="no status",
        ),
        pytest.param(
            workload("Deployment", READY | {"updatedReplicas": 1}, replicas=2),
            "Progressing",
            "1 of 2 pods are of this version",
            id="old pods are ready, new ones are not there",
        ),
        pytest.param(
            workload("Deployment", READY | {"availableReplicas": 1}, replicas=2),
            "Progressing",
            "1 of 2 pods are ready",
            id="one pod is not ready",
        ),
        pytest.param(
            workload(
                "Deployment",
                READY
                | {
                    "conditions": [
                        {
                            "type": "Progressing",
                            "status": "False",
                            "reason": "ProgressDeadlineExceeded",
                            "message": "timed out",
                        }
                    ]
                },
            ),
            "Degraded",
            "ProgressDeadlineExceeded: timed out",
            id="stuck",
        ),
        pytest.param(workload("StatefulSet", READY, replicas=2), "Healthy", "", id="set"),
        pytest.param(
            workload("DaemonSet", SEEN | {"desiredNumberScheduled": 3, "numberAvailable": 2}),
            "Progressing",
            "0 of 3 pods are ready",
            id="daemons",
        ),
        pytest.param(
            workload("Rollout", SEEN | {"phase": "Degraded", "message": "analysis failed"}),
            "Degraded",
            "analysis failed",
            id="a rollout that was aborted",
        ),
        pytest.param(
            workload("Rollout", SEEN | {"phase": "Paused"}), "Progressing", "Paused", id="paused"
        ),
        pytest.param(
            workload("Job", {"conditions": [{"type": "Complete", "status": "True"}]}),
            "Healthy",
            "",
            id="a finished job",
        ),
        pytest.param(workload("Job", {}), "Progressing", "it has not finished", id="a job"),
        pytest.param(workload("ConfigMap", {}), "Healthy", "", id="runs no pods"),
    ],
)
def test_health_says_why_it_is_no_better(live: dict[str, Any], health: str, reason: str) -> None:
    assert health_of(live) == HealthVerdict(Health(health), reason)


def test_the_worst_of_several_is_reported_by_its_name() -> None:
    slow, lost = HealthVerdict(Health.PROGRESSING, "a"), HealthVerdict(Health.DEGRADED, "b")
    assert worst({"x": HEALTHY, "y": lost, "z": slow}) == HealthVerdict(Health.DEGRADED, "y: b")
    assert worst({}) == HEALTHY


@pytest.mark.parametrize(
    ("kind", "spec", "status", "expected"),
    [
        pytest.param("Deployment", {"replicas": 3}, {"readyReplicas": 2}, (3, 2, ""), id="some"),
        pytest.param("Deployment", {}, {}, (1, 0, ""), id="none ready"),
        pytest.param("Deployment", {"replicas": None}, {}, (1, 0, ""), id="null is the default"),
        pytest.param(
            "DaemonSet",
            {},
            {"desiredNumberScheduled": 3, "numberReady": 2},
            (3, 2, ""),
            id="one a node",
        ),
        pytest.param(
            "Sandbox",
            {},
            {"conditions": [{"type": "Ready", "status": "True"}]},
            (1, 1, ""),
            id="sandbox",
        ),
        pytest.param(
            "CronJob", {}, {"lastScheduleTime": "then"}, (None, None, "then"), id="by the clock"
        ),
    ],
)
def test_a_workload_says_how_much_of_it_is_there(
    kind: str, spec: dict[str, Any], status: dict[str, Any], expected: tuple[object, ...]
) -> None:
    state = workload_state({"kind": kind, "spec": spec, "status": status})
    assert (state.desired, state.ready, state.last_run) == expected


@pytest.mark.parametrize(
    ("seen", "generation", "observed"),
    [
        pytest.param(None, 1, None, id="no controller"),
        pytest.param(1, 2, False, id="the change before"),
        pytest.param(2, 2, True, id="the last change"),
        pytest.param("1", 2, False, id="the change before, as text"),
        pytest.param("2", 2, True, id="the last change, as text"),
        pytest.param("6d8f9c7b5", 2, True, id="a hash, by Argo Rollouts before 1.0"),
    ],
)
def test_a_controller_says_which_change_it_has_seen(
    seen: object, generation: int, observed: bool | None
) -> None:
    status = {} if seen is None else {"observedGeneration": seen}
    assert is_observed({"metadata": {"generation": generation}, "status": status}) is observed


def rollout(**status: Any) -> dict[str, Any]:
    return workload("Rollout", status, replicas=2)


@pytest.mark.parametrize(
    ("live", "ready", "rolled_out", "reason"),
    [
        pytest.param(
            workload("Deployment", READY | {"replicas": 2}, replicas=2),
            "True",
            "True",
            "AllReady",
            id="all ready",
        ),
        pytest.param(
            workload("Deployment", READY | {"replicas": 3}, replicas=2),
            "True",
            "False",
            "RollingOut",
            id="an old pod is still there",
        ),
        pytest.param(
            rollout(observedGeneration="6d8f9c7b5", readyReplicas=2, updatedReplicas=2, replicas=2),
            "True",
            "True",
            "AllReady",
            id="a rollout that tells a hash",
        ),
        pytest.param(
            workload("Deployment", SEEN | {"readyReplicas": 1}, replicas=None),
            "True",
            "False",
            "RollingOut",
            id="replicas of null are one",
        ),
        pytest.param(
            workload(
                "StatefulSet",
                SEEN
                | {
                    "conditions": [
                        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}
                    ]
                },
            ),
            "False",
            "False",
            "FailedCreate",
            id="pods cannot be made",
        ),
        pytest.param(
            workload("CronJob", {}, suspend=True), "False", "True", "Suspended", id="suspended"
        ),
    ],
)
def test_readiness_says_what_is_missing(
    live: dict[str, Any], ready: str, rolled_out: str, reason: str
) -> None:
    found = readiness_of([live], [])
    assert (found.is_ready, found.is_rolled_out, found.reason) == (ready, rolled_out, reason)


def test_several_workloads_are_as_ready_as_the_worst_and_say_why_its_pods_are_stuck() -> None:
    well = workload("Deployment", READY | {"replicas": 2}, replicas=2)
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    containers = [{"name": "agent", "state": {"waiting": waiting}, "restartCount": 0}]
    pod = {"metadata": {"name": "one-x"}, "status": {"containerStatuses": containers}}
    found = readiness_of([well, rollout(observedGeneration="2", readyReplicas=0)], [pod])
    assert (found.wanted, found.ready, found.is_ready) == (4, 2, "False")
    assert found.reason == "ImagePullBackOff"
    assert found.message == "pod one-x: container agent: no such image"
