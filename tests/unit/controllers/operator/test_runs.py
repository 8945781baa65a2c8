"""What came of the last run of an agent that runs as a job."""

from typing import Any

import pytest
from holdfast.controllers.operator.agent_view import AgentView
from holdfast.controllers.operator.status import last_run
from holdfast.kube.objects import Identity
from holdfast.render.plan.metadata import RenderedObject

RESOURCE = {"metadata": {"name": "nightly", "namespace": "cx"}}


def made(kind: str, name: str, role: str) -> RenderedObject:
    return RenderedObject("nightly", role, {"kind": kind, "metadata": {"name": name}})


SCHEDULE = made("CronJob", "nightly-late", "schedule-late")
BACKUP = made("CronJob", "nightly-backup", "backup-schedule")


def job(name: str, created: str, owner: str, condition: str = "") -> dict[str, Any]:
    conditions = [{"type": condition, "status": "True", "reason": "Why"}] if condition else []
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "creationTimestamp": created,
            "ownerReferences": [{"kind": "CronJob", "name": owner}],
        },
        "status": {"conditions": conditions},
    }


def seen(*jobs: dict[str, Any], rendered: tuple[RenderedObject, ...] = (SCHEDULE, BACKUP)) -> Any:
    live = {Identity("batch", "Job", "cx", one["metadata"]["name"]): one for one in jobs}
    found = last_run(AgentView(RESOURCE, rendered=rendered, live=live))
    return found and (found.status, found.reason, found.message)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param(seen(), ("Unknown", "NoRunYet", "it has not run yet"), id="none"),
        pytest.param(
            seen(job("a", "2026-11-22T01:00:00Z", "nightly-late", "Complete")),
            ("True", "Complete", "Job a: complete"),
            id="well",
        ),
        pytest.param(
            seen(
                job("a", "2026-11-22T01:00:00Z", "nightly-late", "Complete"),
                job("b", "2026-11-22T02:00:00Z", "nightly-late", "Failed"),
            ),
            ("False", "Failed", "Job b: failed (Why)"),
            id="the newest failed",
        ),
        pytest.param(
            seen(job("b", "2026-11-22T02:00:00Z", "nightly-late")),
            ("Unknown", "Running", "Job b: running"),
            id="under way",
        ),
        pytest.param(
            seen(job("c", "2026-11-22T03:00:00Z", "nightly-backup", "Failed")),
            ("Unknown", "NoRunYet", "it has not run yet"),
            id="a backup is no run",
        ),
        pytest.param(
            seen(job("c", "2026-11-22T03:00:00Z", "x", "Failed"), rendered=(BACKUP,)),
            None,
            id="an agent that serves",
        ),
    ],
)
def test_the_newest_run_is_reported(found: Any, said: Any) -> None:
    assert found == said
