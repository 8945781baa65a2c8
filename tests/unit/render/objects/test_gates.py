"""Jobs that an update waits for: one that failed is tried again by the next update."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.kube.objects import KubeObject
from holdfast.manifest.types.marks import ATTEMPT
from holdfast.render.objects.gates import attempt_of
from holdfast.render.plan.render_agent import render_agent

from tests.unit.render.rendering import IMAGE, named, plan

AGENT = {
    "model": {"provider": "vllm", "name": "vlm", "baseUrl": "http://vlm.inference.svc:8000/v1"},
    "storage": {
        "volumes": [{"name": "index", "size": "1Gi", "mountPath": "/data"}],
        "backup": {
            "method": "Job",
            "image": IMAGE,
            "command": ["save"],
            "restoreCommand": ["fill"],
        },
    },
}
ROLES = ("check", "backup-before-rollout")


def gate(role: str, mark: str = "") -> KubeObject:
    """A Job as an update deploys it that has read the cluster."""
    agent = plan(AGENT, {"images": {"tools": IMAGE}})
    name = named(render_agent(agent), role)["metadata"]["name"]
    return named(render_agent(replace(agent, attempts={name: mark})), role)


def live(job: KubeObject, outcome: str, uid: str = "u-1") -> dict[str, Any]:
    conditions = [{"type": outcome, "status": "True"}] if outcome else []
    return job | {
        "metadata": job["metadata"] | {"uid": uid},
        "status": {"conditions": conditions},
    }


def template(job: KubeObject) -> Any:
    return job["spec"]["template"]


@pytest.mark.parametrize("role", ROLES)
def test_a_job_that_failed_is_another_one_in_the_next_update(role: str) -> None:
    first = gate(role)
    mark = attempt_of(live(first, "Failed"))
    again = gate(role, mark)
    # The pod template of a Job cannot change: the engine replaces the Job, which runs.
    assert template(again) != template(first)
    assert again["metadata"] == first["metadata"]
    once_more = gate(role, attempt_of(live(again, "Failed", uid="u-2")))
    assert template(once_more) != template(again)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("outcome", ["Complete", ""])
def test_a_job_that_succeeded_or_still_runs_stays(role: str, outcome: str) -> None:
    first = gate(role)
    assert attempt_of(live(first, outcome)) == ""
    again = gate(role, "12345678")
    assert template(gate(role, attempt_of(live(again, outcome)))) == template(again)


def test_the_mark_is_on_pods_that_wait_for_nothing_else() -> None:
    annotations = template(gate("check", "12345678"))["metadata"]["annotations"]
    assert annotations[ATTEMPT] == "12345678"
