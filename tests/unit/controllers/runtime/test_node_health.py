"""Nodes by what is wrong with them: each turn is told once, whatever it was heard by."""

from typing import Any

import pytest
from holdfast.adapters.cluster.changes import Change, Moved, Snapshot, WatchScope
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.controllers.runtime.node_health import (
    NodeHealth,
    faults_of,
    trigger_of,
    watched_nodes,
)
from holdfast.kube.objects import Identity, KubeObject

PLACE = WatchScope(watched_nodes(), "Node")


def node(ready: str = "True", *, cordoned: bool = False, **conditions: str) -> KubeObject:
    found = [{"type": kind, "status": status} for kind, status in conditions.items()]
    spec = {"unschedulable": True} if cordoned else {}
    return {"spec": spec, "status": {"conditions": [{"type": "Ready", "status": ready}, *found]}}


def identity(name: str) -> Identity:
    return Identity("", "Node", "", name)


def moved(name: str, live: KubeObject | None) -> Change:
    return Moved(PLACE, identity(name), live, "1", 0.0)


def snapshot(**nodes: KubeObject) -> Change:
    listing = Listing(objects={identity(name): live for name, live in nodes.items()})
    return Snapshot(PLACE, listing, 0.0)


@pytest.mark.parametrize(
    ("live", "faults"),
    [
        pytest.param(node(), set(), id="ready"),
        pytest.param(node("Unknown"), {"NotReady"}, id="not-heard-of"),
        pytest.param({"metadata": {}}, {"NotReady"}, id="says-nothing"),
        pytest.param(node(cordoned=True), {"cordoned"}, id="cordoned"),
        pytest.param(
            node(DiskPressure="True", PIDPressure="False"), {"DiskPressure"}, id="pressure"
        ),
    ],
)
def test_what_is_wrong_with_a_node(live: dict[str, Any], faults: set[str]) -> None:
    assert faults_of(live) == faults


def test_turns_are_reported_once_each() -> None:
    health = NodeHealth()

    def told(change: Change) -> list[str]:
        return [trigger_of(turn) for turn in health.take(change)]

    assert told(snapshot(a=node(), b=node("False"))) == []
    assert told(moved("a", node("Unknown"))) == ["node/a NotReady"]
    assert told(moved("a", node("False"))) == []
    assert told(moved("a", node(cordoned=True))) == ["node/a cordoned", "node/a Ready"]
    assert told(snapshot(a=node(MemoryPressure="True"))) == [
        "node/b gone",
        "node/a MemoryPressure",
        "node/a uncordoned",
    ]
    assert told(moved("a", node())) == ["node/a MemoryPressure is over"]
    assert told(moved("c", node("False"))) == []
    assert told(moved("a", None)) == ["node/a gone"]
    assert told(moved("a", None)) == []
