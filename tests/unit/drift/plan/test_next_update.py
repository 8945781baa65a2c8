"""What the next update of an object does about a finding: the risk to the next deployment."""

from typing import Any

import pytest
from holdfast.drift.finding import DriftClass, NextUpdate
from holdfast.drift.plan.next_update import next_update_of_object
from holdfast.kube.objects import KubeObject

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, findings, live_of, owned_by

IMAGE = f"{CONTAINER}.image"
SIDECAR = CONTAINER.replace("agent", "tap")
FORCED = edit(DEPLOYMENT, {"metadata.annotations": {"pulumi.com/patchForce": "true"}})
MAP: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "cx"},
    "data": {"mode": "strict"},
}


def told(desired: KubeObject, live: KubeObject) -> list[NextUpdate | None]:
    return [each.next_update for each in findings(desired, live)]


@pytest.mark.parametrize(
    ("manager", "subresource", "expected"),
    [
        pytest.param("kubectl-set", "", NextUpdate.OVERWRITES, id="kubectl is taken over"),
        pytest.param("before-first-apply", "", NextUpdate.OVERWRITES, id="so is what came before"),
        pytest.param("holdfast", "", NextUpdate.OVERWRITES, id="our own name"),
        pytest.param("dashboard", "", NextUpdate.CONFLICTS, id="another manager"),
        pytest.param("kubectl", "scale", NextUpdate.CONFLICTS, id="the scale subresource"),
    ],
)
def test_a_changed_value_depends_on_its_owner(
    manager: str, subresource: str, expected: NextUpdate
) -> None:
    changed = live_of(DEPLOYMENT, {IMAGE: "evil:1"})
    live = owned_by(manager, IMAGE, changed, subresource=subresource)
    assert told(DEPLOYMENT, live) == [expected]


def test_a_forced_object_knows_no_conflicts() -> None:
    live = owned_by("dashboard", IMAGE, live_of(FORCED, {IMAGE: "evil:1"}))
    assert told(FORCED, live) == [NextUpdate.OVERWRITES]


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        pytest.param("kubectl-patch", NextUpdate.OVERWRITES, id="taken over and left out"),
        pytest.param("dashboard", NextUpdate.KEEPS, id="another manager keeps it"),
    ],
)
def test_an_addition_stays_unless_pulumi_takes_it_over(manager: str, expected: NextUpdate) -> None:
    added: dict[str, Any] = {SIDECAR: {"name": "tap", "image": "t:1"}}
    live = owned_by(manager, SIDECAR, live_of(DEPLOYMENT, added))
    assert told(DEPLOYMENT, live) == [expected]


def test_what_admission_added_stays() -> None:
    live = live_of(DEPLOYMENT, {SIDECAR: {"name": "tap", "image": "t:1"}})
    assert told(DEPLOYMENT, live) == [NextUpdate.KEEPS]


def test_what_cannot_be_changed_in_place() -> None:
    selector = "spec.selector.matchLabels.app"
    assert told(DEPLOYMENT, live_of(DEPLOYMENT, {selector: "x"})) == [NextUpdate.FAILS]
    live = owned_by("kubectl-edit", "immutable", live_of(MAP, {"immutable": True}))
    changed = edit(live, {"data.mode": "lax"})
    assert NextUpdate.REPLACES in told(MAP, changed)


def test_every_class_of_whole_objects_has_an_answer() -> None:
    fields = {DriftClass.CHANGED, DriftClass.ADDED, DriftClass.REMOVED}
    for drift_class in set(DriftClass) - fields:
        assert next_update_of_object(drift_class, is_recorded=False)


@pytest.mark.parametrize(
    ("is_recorded", "expected"),
    [
        pytest.param(True, NextUpdate.DELETES, id="declared until now"),
        pytest.param(False, NextUpdate.KEEPS, id="never declared"),
    ],
)
def test_what_is_declared_no_more_goes_with_the_next_update(
    is_recorded: bool, expected: NextUpdate
) -> None:
    assert next_update_of_object(DriftClass.UNMANAGED, is_recorded=is_recorded) is expected
