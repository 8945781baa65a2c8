"""Named actions as text and data."""

import json

from holdfast.kube.objects import ObjectRef
from holdfast.operations.actions.action import ActionStep
from holdfast.report.text.action_text import action_json, steps_text

POD = ObjectRef("cx", "Pod", "rag-1", "v1")
STEPS = (
    ActionStep("evict", POD, "node worker-3: it is cordoned"),
    ActionStep("declare", None, "scaling.replicas: 4"),
)


def test_steps_are_reported_one_a_line_and_escaped() -> None:
    assert steps_text(STEPS) == (
        "would evict Pod cx/rag-1 (node worker-3: it is cordoned)\n"
        "would declare (scaling.replicas: 4)\n"
    )
    assert "\x1b" not in steps_text([ActionStep("evict", POD, "\x1b[2Jgone")])


def test_the_document_holds_the_same() -> None:
    document = json.loads(action_json("restart", "rag", "prod", "planned", STEPS, reason="why"))
    assert document["schemaVersion"] == "holdfast.dev/action/v1"
    assert (document["action"], document["outcome"], document["reason"]) == (
        "restart",
        "planned",
        "why",
    )
    evicted, declared = document["steps"]
    assert evicted["object"]["name"] == "rag-1"
    assert (declared["object"], declared["why"]) == (None, "scaling.replicas: 4")
