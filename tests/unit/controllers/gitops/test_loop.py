"""What asks a loop for work: a suspension that begins or ends, a node that turns."""

from typing import Any, cast

import pytest
from holdfast.adapters.cluster.changes import Change, Moved, Snapshot, WatchedKind, WatchScope
from holdfast.adapters.cluster.changes import WatchLost as Lost
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.controllers.gitops.loop import ClusterTrigger
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT
from holdfast.controllers.runtime.node_health import watched_nodes
from holdfast.kube.objects import KubeObject
from holdfast.operations.stack.agent_stack import agent_stack_ref

REF = agent_stack_ref("dev")
STACK = WatchScope(WatchedKind(None, (REF,)), REF.kind)
NODES = WatchScope(watched_nodes(), "Node")


class Bench:
    """A trigger, and what it asked for and logged."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.logged: list[dict[str, Any]] = []
        self.trigger = ClusterTrigger(
            cast("LoopActor", None),
            lambda key, why: self.asked.append((key, why)),
            lambda _, **facts: self.logged.append(facts),
        )

    def take(self, *changes: Change) -> list[tuple[str, str]]:
        before = len(self.asked)
        for each in changes:
            self.trigger._take(each)
        return self.asked[before:]


def stack(*, suspend: bool, reason: str = "an incident") -> KubeObject:
    said = {"by": "ann", "since": "2026-01-02T00:00:00Z", "reason": reason}
    return {"metadata": {"name": "dev"}, "spec": {"suspend": suspend, "suspension": said}}


def moved(live: KubeObject | None) -> Moved:
    return Moved(STACK, REF.identity, live, "2", 0.0)


def test_a_suspension_that_begins_or_ends_asks_for_a_turn_once() -> None:
    bench = Bench()
    listed = Snapshot(STACK, Listing({REF.identity: stack(suspend=False)}), 0.0)
    assert bench.take(listed, moved(stack(suspend=False))) == []
    begins = moved(stack(suspend=True))
    words = "suspended by ann since 2026-01-02T00:00:00Z: an incident"
    assert bench.take(begins, begins) == [(COMMIT, words), (DRIFT, words)]
    resumed = [(COMMIT, "resumed"), (DRIFT, "resumed")]
    assert bench.take(moved(stack(suspend=False))) == resumed


def test_a_resource_that_is_deleted_suspends_nothing() -> None:
    bench = Bench()
    bench.take(moved(stack(suspend=True)))
    assert (COMMIT, "resumed") in bench.take(moved(None))


def test_a_watch_that_is_lost_is_logged_once_for_each_reason() -> None:
    bench = Bench()
    bench.take(Lost(STACK, "forbidden"), Lost(STACK, "forbidden"), Lost(STACK, "silence"))
    assert [each["error"] for each in bench.logged] == ["forbidden", "silence"]


def test_a_node_that_turns_asks_for_the_agents_with_pods_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ClusterTrigger, "_agents_on", lambda _, node: [f"agent-of-{node}"])
    node = {
        "metadata": {"name": "n1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    identity = watched_nodes().refs[0].identity._replace(name="n1")
    bench = Bench()
    assert bench.take(Moved(NODES, identity, node, "1", 0.0)) == []
    cordoned = {**node, "spec": {"unschedulable": True}}
    assert bench.take(Moved(NODES, identity, cordoned, "2", 0.0)) == [
        ("agent-of-n1", "node/n1 cordoned")
    ]
