"""Rollouts that an update waits for: when one that gets no pods ends it, and when not."""

from typing import Any

import pytest
from holdfast.adapters.engine.run.events import ResourceStep, StepDone, StepFailed, StepStarted
from holdfast.errors import ClusterError, HoldfastError, InputError
from holdfast.kube.objects import KubeObject, ObjectRef
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
        self.progress = NotedProgress()
        self.guard = RolloutGuard(self.read, self.progress, lambda: self.now)

    def read(self, _: ObjectRef) -> KubeObject:
        self.reads += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return dict(self.answer)

    def look_at(self, seconds: float) -> str:
        self.now = seconds
        self.guard.look()
        return self.guard.stop_reason()


@pytest.fixture
def watched() -> Watched:
    made = Watched()
    made.guard.take(StepStarted(step()))
    return made


def test_pods_refused_for_a_minute_end_the_run_and_are_reported_at_once(watched: Watched) -> None:
    assert watched.look_at(5) == ""
    assert watched.progress.lines == [f"waiting: {WHY}"]
    assert watched.look_at(5 + REFUSED_SECONDS - 1) == ""
    assert watched.look_at(5 + REFUSED_SECONDS) == WHY
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
def test_a_break_begins_the_minute_anew(watched: Watched, between: KubeObject) -> None:
    watched.look_at(0)
    watched.answer = between
    assert watched.look_at(30) == ""
    watched.answer = live()
    assert watched.look_at(31) == ""
    assert watched.look_at(31 + REFUSED_SECONDS - 1) == ""
    assert watched.look_at(31 + REFUSED_SECONDS) == WHY


@pytest.mark.parametrize("error", [ClusterError("no answer"), InputError("no such context")])
def test_a_read_that_fails_decides_nothing(watched: Watched, error: HoldfastError) -> None:
    watched.look_at(0)
    watched.answer = error
    assert watched.look_at(30) == ""
    watched.answer = live()
    assert watched.look_at(REFUSED_SECONDS) == WHY


@pytest.mark.parametrize("end", [StepDone, StepFailed])
def test_what_the_engine_has_ended_is_looked_at_no_longer(
    watched: Watched, end: type[StepDone] | type[StepFailed]
) -> None:
    watched.look_at(0)
    watched.guard.take(end(step()))
    assert watched.look_at(REFUSED_SECONDS) == ""
    assert watched.reads == 1


def test_only_workloads_that_tell_of_refused_pods_are_read() -> None:
    watched = Watched()
    watched.guard.take(StepStarted(step(ObjectRef("team", "Service", "app", "v1"))))
    assert watched.look_at(0) == ""
    assert watched.reads == 0
