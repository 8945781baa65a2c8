"""A Service that the operator may move stands beside what is rendered: its revision stays."""

from typing import Any

import pytest
from holdfast.drift.compare.difference import Difference, TypePosition
from holdfast.drift.exemption.controllers import Failovers
from holdfast.drift.finding import DriftClass
from holdfast.kube.objects import reference_of
from holdfast.kube.semantics import builtin_types
from holdfast.manifest.types.marks import FAILOVER
from holdfast.render.objects.failover import (
    is_movable,
    keeping_side,
    leading_to,
    other_target,
    serving_target,
)

SELECTOR = {"app.kubernetes.io/instance": "prod", "app.kubernetes.io/name": "rag"}


def service(selected: str = "rag", *, automatic: bool = True) -> dict[str, Any]:
    annotations = {FAILOVER: "30s"} if automatic else {}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "rag", "namespace": "cx", "annotations": annotations},
        "spec": {"selector": SELECTOR | {"app.kubernetes.io/name": selected}, "ports": []},
    }


def test_a_service_is_led_to_either_side_and_nothing_else_changes() -> None:
    moved = leading_to(service(), "standby")
    assert moved == service("rag-standby")
    assert leading_to(moved, "primary") == service()
    assert (serving_target(moved), other_target("standby")) == ("standby", "primary")


def test_only_a_service_that_says_so_is_moved() -> None:
    fixed = service(automatic=False)
    assert not is_movable(fixed)
    assert leading_to(fixed, "standby") == fixed
    assert keeping_side(fixed, service("rag-standby")) == fixed


@pytest.mark.parametrize(
    ("live", "kept"),
    [
        pytest.param(service("rag-standby"), "rag-standby", id="moved"),
        pytest.param(service(), "rag", id="as declared"),
        pytest.param(service("stranger"), "rag", id="led astray"),
        pytest.param(None, "rag", id="gone"),
    ],
)
def test_what_is_applied_over_it_keeps_where_it_leads(
    live: dict[str, Any] | None, kept: str
) -> None:
    assert keeping_side(service(), live) == service(kept)


@pytest.mark.parametrize(
    ("declared", "live", "is_failover"),
    [
        pytest.param(service(), "rag-standby", True, id="moved"),
        pytest.param(service(), "stranger", False, id="led astray"),
        pytest.param(service(automatic=False), "rag-standby", False, id="nobody may move it"),
    ],
)
def test_either_side_is_no_drift_and_anything_else_is(
    declared: dict[str, Any], live: str, is_failover: bool
) -> None:
    ref = reference_of(declared)
    failovers = Failovers([declared])
    structure = builtin_types().structure_of("v1", "Service")
    assert structure is not None
    name = "app.kubernetes.io/name"
    one = TypePosition(structure, ("spec", "selector", name))
    assert failovers.moves(ref, Difference(one, DriftClass.CHANGED, "rag", live)) == is_failover
    whole = TypePosition(structure, ("spec", "selector"))
    both = Difference(whole, DriftClass.CHANGED, SELECTOR, SELECTOR | {name: live})
    assert failovers.moves(ref, both) == is_failover
    other = Difference(whole, DriftClass.CHANGED, SELECTOR, {name: live})
    assert not failovers.moves(ref, other)
