"""Why nothing is done about an agent: one reason a stuck case."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.controllers.operator.agent_view import PAUSED, AgentView
from holdfast.controllers.operator.status import stalled
from holdfast.drift.finding import DriftClass, Finding
from holdfast.kube.objects import ObjectRef

RESOURCE: dict[str, Any] = {"metadata": {"name": "rag", "namespace": "cx", "generation": 1}}
WELL = AgentView(RESOURCE, mode="expand")
EDIT = Finding(ObjectRef("cx", "Service", "rag", "v1"), "rag", DriftClass.CHANGED, ("spec", "type"))
PAUSED_RESOURCE = {"metadata": RESOURCE["metadata"] | {"annotations": {PAUSED: "true"}}}


@pytest.mark.parametrize(
    ("view", "reason", "message"),
    [
        pytest.param(
            replace(WELL, resource=PAUSED_RESOURCE, error="x"),
            "Paused",
            "the annotation holdfast.dev/paused is true",
            id="paused",
        ),
        pytest.param(
            replace(WELL, invalid=("spec.image: expected",)),
            "Invalid",
            "spec.image: expected",
            id="no manifest",
        ),
        pytest.param(
            replace(WELL, unresolved=("spec.model.ref: no main",)),
            "Unresolved",
            "spec.model.ref: no main",
            id="a reference",
        ),
        pytest.param(
            replace(WELL, blind=("Service: 403",)),
            "CannotSee",
            "Service: 403",
            id="no rights to look",
        ),
        pytest.param(
            replace(WELL, broken=("image-digest-pinned",), error="x"),
            "PolicyRefused",
            "breaks image-digest-pinned",
            id="policy",
        ),
        pytest.param(
            replace(WELL, error="Deployment cx/rag: 403 quota"),
            "NotWritten",
            "Deployment cx/rag: 403 quota",
            id="the server refuses",
        ),
        pytest.param(
            replace(WELL, findings=(EDIT,), contested=frozenset({"Service rag spec.type"})),
            "Conflict",
            "left alone: Service rag spec.type",
            id="a fight",
        ),
        pytest.param(
            replace(WELL, invalid=("a", "b", "c", "d")), "Invalid", "a; b; c; and 1 more", id="many"
        ),
    ],
)
def test_each_stuck_case_names_its_reason(view: AgentView, reason: str, message: str) -> None:
    found = stalled(view)
    assert (found.type, found.status, found.reason, found.message) == (
        "Stalled",
        "True",
        reason,
        message,
    )


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(WELL, id="well"),
        pytest.param(replace(WELL, findings=(EDIT,)), id="drift that is told of"),
        pytest.param(replace(WELL, mode="observe", broken=("a-rule",)), id="Pulumi deploys"),
    ],
)
def test_what_nothing_hinders_is_not_stalled(view: AgentView) -> None:
    assert (stalled(view).status, stalled(view).reason) == ("False", "NothingHinders")
