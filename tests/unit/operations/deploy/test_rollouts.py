"""Rollouts that an update waits for: when one that gets no pods ends it, and when not."""

from typing import Any

import pytest
from holdfast.adapters.engine.run.events import ResourceStep, StepDone, StepFailed, StepStarted
from holdfast.errors import ClusterError, HoldfastError, InputError
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.pod_waits import PodWait
from holdfast.operations.deploy.rollouts import REFUSED_SECONDS, RolloutGuard

from tests.unit.operations.noted_progress import NotedProgress

DEPLOYMENT = ObjectRef("team", "Deployment", "app", "apps/v1")
WHY = "Deployment team/app cannot create its pods: pods are forbidden"


def step(ref: ObjectRef = DEPLOYMENT) -> ResourceStep:
    return ResourceStep(f"urn::{ref.kind}", f"kubernetes:{ref.kind}", "update", ref)


def live(status: str = "True", reason: str = "FailedCreate", observed: int = 2) -> KubeObject:
    condition = {
        "type": "ReplicaFailure",
        "status": status,
        "reason": reason,
        "message": "pods are forbidden",
    }
    return {
        "kind": "Deployment",
        "metadata": {"generation": 2},
        "status": {"observedGeneration": observed, "conditions": [condition]},
    }


class Watched:
    """A guard over one Deployment, whose status and clock the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.answer: Any = live()
        self.reads = 0
        self.pod_waits: list[PodWait] = []
        self.progress = NotedProgress()
        self.guard = RolloutGuard(self, self.progress, lambda: self.now)

    def live(self, _: ObjectRef) -> KubeObject:
        self.reads += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return dict(self.answer)

    def waits(self, _: KubeObject) -> list[PodWait]:
        return self.pod_waits

    def check_at(self, seconds: float) -> str:
        self.now = seconds
        self.guard.check()
        return self.guard.stop_reason()


@pytest.fixture
def watched() -> Watched:
    made = Watched()
    made.guard.take(StepStarted(step()))
    return made


def test_pods_refused_for_a_minute_end_the_run_and_are_reported_at_once(watched: Watched) -> None:
    assert watched.check_at(5) == ""
    assert watched.progress.lines == [f"waiting: {WHY}"]
    assert watched.check_at(5 + REFUSED_SECONDS - 1) == ""
    assert watched.check_at(5 + REFUSED_SECONDS) == WHY
    assert watched.progress.lines == [f"waiting: {WHY}"], "said once"


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(live(status="False"), id="a pod was created meanwhile"),
        pytest.param(live(observed=1), id="the controller has not seen the newest version"),
        pytest.param(live(reason="FailedDelete"), id="another failure"),
        pytest.param({"metadata": {}, "status": {}}, id="no controller has said anything"),
    ],
)
def test_a_break_restarts_the_minute(watched: Watched, between: KubeObject) -> None:
    watched.check_at(0)
    watched.answer = between
    assert watched.check_at(30) == ""
    watched.answer = live()
    assert watched.check_at(31) == ""
    assert watched.check_at(31 + REFUSED_SECONDS - 1) == ""
    assert watched.check_at(31 + REFUSED_SECONDS) == WHY


@pytest.mark.parametrize("error", [ClusterError("no answer"), InputError("no such context")])
def test_a_read_that_fails_decides_nothing(watched: Watched, error: HoldfastError) -> None:
    watched.check_at(0)
    watched.answer = error
    assert watched.check_at(30) == ""
    watched.answer = live()
    assert watched.check_at(REFUSED_SECONDS) == WHY


@pytest.mark.parametrize("end", [StepDone, StepFailed])
def test_what_the_engine_has_ended_is_read_no_longer(
    watched: Watched, end: type[StepDone] | type[StepFailed]
) -> None:
    watched.check_at(0)
    watched.guard.take(end(step()))
    assert watched.check_at(REFUSED_SECONDS) == ""
    assert watched.reads == 1


def test_only_workloads_are_read() -> None:
    watched = Watched()
    watched.guard.take(StepStarted(step(ObjectRef("team", "Service", "app", "v1"))))
    assert watched.check_at(0) == ""
    assert watched.reads == 0


def rollout(generation: int, *, abort: bool = True, observed: int | None = None) -> KubeObject:
    status = {"observedGeneration": str(observed or generation), "phase": "Degraded"}
    message = "RolloutAborted: metric errors failed"
    more = {"abort": True, "message": message} if abort else {}
    return {
        "kind": "Rollout",
        "metadata": {"generation": generation},
        "status": {**status, **more},
    }


def test_a_rollout_that_was_aborted_ends_the_run_at_once(watched: Watched) -> None:
    watched.answer = rollout(3, abort=False)
    assert watched.check_at(0) == ""
    watched.answer = rollout(3)
    why = "Deployment team/app was aborted: RolloutAborted: metric errors failed"
    assert watched.check_at(3) == why


def test_an_abort_from_before_the_update_does_not_end_it(watched: Watched) -> None:
    for answer in (rollout(2), rollout(3, observed=2), rollout(3, abort=False)):
        watched.answer = answer
        assert watched.check_at(3) == ""
    watched.answer = rollout(3)
    assert watched.check_at(9) != "", "the update's own version was aborted"


def test_what_pods_are_stuck_in_is_reported_once_for_all_pods_and_tries(watched: Watched) -> None:
    watched.answer = live(status="False")
    first = PodWait("app-1", "ErrImagePull", "container agent", "not found")
    again = PodWait("app-2", "ImagePullBackOff", "container agent", "back-off")
    watched.pod_waits = [first]
    watched.check_at(3)
    watched.pod_waits = [again, first]
    watched.check_at(6)
    assert watched.progress.lines == [
        "waiting: Deployment team/app: pod app-1: container agent: ErrImagePull: not found"
    ]


def test_what_a_normal_start_waits_for_is_reported_when_it_lasts(watched: Watched) -> None:
    watched.answer = live(status="False")
    subject = "init container wait-for-models"
    watched.pod_waits = [PodWait("app-1", "InitContainerRunning", subject, "", is_stuck=False)]
    watched.check_at(3)
    assert watched.progress.lines == []
    watched.check_at(6)
    expected = f"waiting: Deployment team/app: pod app-1: {subject}: InitContainerRunning"
    assert watched.progress.lines == [expected]
