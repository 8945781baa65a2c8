"""Whether a workload does its work."""

from typing import Any

import pytest
from holdfast.kube.health import HEALTHY, Health, HealthVerdict, health_of, worst


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


def test_the_worst_of_several_is_told_by_its_name() -> None:
    slow, lost = HealthVerdict(Health.PROGRESSING, "a"), HealthVerdict(Health.DEGRADED, "b")
    assert worst({"x": HEALTHY, "y": lost, "z": slow}) == HealthVerdict(Health.DEGRADED, "y: b")
    assert worst({}) == HEALTHY
