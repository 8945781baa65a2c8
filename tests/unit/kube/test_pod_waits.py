"""What a pod waits for, by statuses and Events as a cluster writes them."""

from typing import Any

import pytest
from holdfast.kube.pod_waits import pod_waits, stuck_pods

NO_NODE = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."


def pod(status: dict[str, Any], *, sidecar: str = "", **metadata: Any) -> dict[str, Any]:
    sidecars = [{"name": sidecar, "restartPolicy": "Always"}] if sidecar else []
    return {
        "metadata": {"name": "app-1", "uid": "u1", **metadata},
        "spec": {"initContainers": sidecars, "containers": [{"name": "agent"}]},
        "status": {"phase": "Pending", **status},
    }


def container(state: dict[str, Any], name: str = "agent", **more: Any) -> dict[str, Any]:
    return {"name": name, "ready": False, "restartCount": 0, "state": state, **more}


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return container({"waiting": {"reason": reason, "message": message}}, **more)


def event(reason: str, message: str, at: str, **target: str) -> dict[str, Any]:
    involved = {"kind": "Pod", "name": "app-1", "uid": "u1", **target}
    return {"involvedObject": involved, "reason": reason, "message": message, "lastTimestamp": at}


CREATING = {"containerStatuses": [waiting("ContainerCreating")]}
ENDED = {"exitCode": 1, "reason": "Error", "message": "Traceback\nKeyError: 'MODEL_URL'\n"}


@pytest.mark.parametrize(
    ("status", "events", "expected"),
    [
        pytest.param(
            {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": NO_NODE,
                    }
                ]
            },
            [],
            f"pod app-1: Unschedulable: {NO_NODE}",
            id="no node",
        ),
        pytest.param(
            {"containerStatuses": [waiting("ImagePullBackOff", "Back-off pulling image")]},
            [],
            "pod app-1: container agent: ImagePullBackOff: Back-off pulling image",
            id="no image",
        ),
        pytest.param(
            {"containerStatuses": [waiting("CreateContainerConfigError", 'secret "k" not found')]},
            [],
            'pod app-1: container agent: CreateContainerConfigError: secret "k" not found',
            id="no Secret for a variable",
        ),
        pytest.param(
            CREATING,
            [
                event("FailedMount", "older", "2026-01-01T10:00:00Z"),
                event("FailedMount", 'secret "keys" not found', "2026-01-01T10:00:09Z"),
                event("FailedMount", "of another pod", "2026-01-01T10:00:20Z", name="app-2"),
                event("FailedMount", "of a deleted pod", "2026-01-01T10:00:30Z", uid="u0"),
            ],
            'pod app-1: FailedMount: secret "keys" not found',
            id="no Secret for a volume",
        ),
        pytest.param(
            {
                "containerStatuses": [
                    waiting(
                        "CrashLoopBackOff",
                        "back-off 10s",
                        restartCount=2,
                        lastState={"terminated": ENDED},
                    )
                ]
            },
            [],
            "pod app-1: container agent: CrashLoopBackOff: back-off 10s; 2 restarts, exit code 1: "
            "KeyError: 'MODEL_URL'",
            id="a crash, with its last words",
        ),
        pytest.param(
            {"initContainerStatuses": [container({"running": {}}, "wait-for-models")], **CREATING},
            [],
            "pod app-1: init container wait-for-models: InitContainerRunning",
            id="an init container",
        ),
        pytest.param(
            {"containerStatuses": [container({"running": {}}, started=True)]},
            [event("Unhealthy", "Readiness probe failed: HTTP 503", "2026-01-01T10:00:00Z")],
            "pod app-1: Unhealthy: Readiness probe failed: HTTP 503",
            id="a check that fails",
        ),
        pytest.param(
            {"containerStatuses": [container({"running": {}}, started=False)]},
            [],
            "pod app-1: container agent: ContainerNotReady: it runs, its startup probe has not "
            "succeeded",
            id="a check without an Event",
        ),
    ],
)
def test_a_pod_says_what_it_waits_for(
    status: dict[str, Any], events: list[dict[str, Any]], expected: str
) -> None:
    assert [str(each) for each in pod_waits(pod(status), events)] == [expected]


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(pod({"conditions": [{"type": "Ready", "status": "True"}]}), id="ready"),
        pytest.param(pod({"phase": "Succeeded"}), id="succeeded"),
        pytest.param(pod(CREATING, deletionTimestamp="now"), id="ends"),
        pytest.param(pod(CREATING), id="is being created"),
        pytest.param(
            pod({"initContainerStatuses": [container({"running": {}}, "log")]}, sidecar="log"),
            id="a sidecar runs",
        ),
    ],
)
def test_a_pod_that_waits_for_nothing_says_nothing(live: dict[str, Any]) -> None:
    assert pod_waits(live) == []


def test_a_normal_start_is_not_stuck() -> None:
    starting = pod({"containerStatuses": [container({"running": {}})]})
    assert [each.is_stuck for each in pod_waits(starting)] == [False]
    assert stuck_pods([starting]) is None


def test_of_several_pods_the_most_frequent_reason_is_given_with_their_count() -> None:
    no_image = pod({"containerStatuses": [waiting("ErrImagePull", "not found")]})
    crash = pod({"containerStatuses": [waiting("CrashLoopBackOff", "back-off")]})
    expected = ("ErrImagePull", "pod app-1: container agent: not found (and 1 more)")
    assert stuck_pods([crash, no_image, no_image]) == expected
