from typing import Any

import pytest
from holdfast.drift.probes.nodes import asks_for_nodes, probe_nodes
from holdfast.drift.probes.outcome import Subject
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path

SUBJECT = Subject("vision", ObjectRef("clinic", "Deployment", "vision", "apps/v1"))
GPU = {
    "nodeSelector": {"accelerator": "a100"},
    "containers": [{"resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "1"}}}],
}


def node(labels: dict[str, str], gpus: str = "0", *, closed: bool = False) -> dict[str, Any]:
    return {
        "metadata": {"labels": labels},
        "spec": {"unschedulable": True} if closed else {},
        "status": {"allocatable": {"nvidia.com/gpu": gpus, "cpu": "8"}},
    }


def found(declared: dict[str, Any], nodes: list[Any], classes: list[Any] | None = None) -> Any:
    outcome = probe_nodes(SUBJECT, declared, nodes, classes or [])
    return {
        format_path(each.path): (each.drift_class.value, each.desired, each.live)
        for each in outcome.findings
    }


def test_a_node_that_has_it_all_is_enough() -> None:
    assert found(GPU, [node({}), node({"accelerator": "a100"}, "4")]) == {}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param(
            [node({}, "4")],
            {"probes.nodes[label=accelerator]": ("removed", "a100", None)},
            id="the label is gone",
        ),
        pytest.param(
            [node({"accelerator": "t4"}, "4")],
            {"probes.nodes[label=accelerator]": ("changed", "a100", ["t4"])},
            id="the label has another value",
        ),
        pytest.param(
            [node({"accelerator": "a100"}, "1")],
            {"probes.nodes[resource=nvidia.com/gpu]": ("changed", 2, 1)},
            id="too few devices",
        ),
        pytest.param(
            [node({"accelerator": "a100"}, "4", closed=True), node({})],
            {
                "probes.nodes[label=accelerator]": ("removed", "a100", None),
                "probes.nodes[resource=nvidia.com/gpu]": ("removed", 2, None),
            },
            id="the node takes no pods",
        ),
        pytest.param(
            [node({"accelerator": "a100"}, "0"), node({}, "4")],
            {"probes.nodes": ("removed", {"accelerator": "a100", "nvidia.com/gpu": 2}, None)},
            id="no single node has all",
        ),
    ],
)
def test_what_no_node_offers_any_more_is_found(nodes: list[Any], expected: Any) -> None:
    assert found(GPU, nodes) == expected


def test_an_absent_runtime_class_is_found() -> None:
    declared = {"runtimeClassName": "gvisor"}
    assert found(declared, [node({})], [{"metadata": {"name": "kata"}}]) == {
        "probes.runtimeClass": ("removed", "gvisor", None)
    }
    assert found(declared, [node({})], [{"metadata": {"name": "gvisor"}}]) == {}


def test_an_agent_that_asks_for_nothing_asks_no_node() -> None:
    assert not asks_for_nodes({"containers": [{"resources": {"limits": {"cpu": "1"}}}]})
    assert asks_for_nodes(GPU)
    assert asks_for_nodes({"runtimeClassName": "gvisor"})
