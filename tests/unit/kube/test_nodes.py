"""Which nodes are to be left, and why."""

from typing import Any

import pytest
from holdfast.kube.nodes import NODE_GONE, node_trouble


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
