"""Autoscalers by what they scale: what is declared counts, and what is live beside it."""

from typing import Any

from holdfast.drift.exemption.controllers import Autoscalers, ReplicaRange
from holdfast.kube.objects import ObjectRef


def autoscaler(target: str, minimum: int, maximum: int) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    limits = {"minReplicas": minimum, "maxReplicas": maximum}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": target, "namespace": "cx"},
        "spec": {"scaleTargetRef": reference, **limits},
    }


def deployment(name: str) -> ObjectRef:
    return ObjectRef("cx", "Deployment", name, "apps/v1")


def test_live_ones_may_change_while_the_declared_ones_stay() -> None:
    declared = Autoscalers([autoscaler("held", 1, 3)], lambda: [autoscaler("old", 1, 2)])
    assert declared.range_of(deployment("old")) == ReplicaRange(1, 2)
    changed = declared.beside([autoscaler("held", 5, 9), autoscaler("new", 2, 4)])
    assert changed.range_of(deployment("held")) == ReplicaRange(1, 3)
    assert changed.range_of(deployment("new")) == ReplicaRange(2, 4)
    assert changed.range_of(deployment("old")) is None
    assert declared.range_of(deployment("old")) == ReplicaRange(1, 2)
