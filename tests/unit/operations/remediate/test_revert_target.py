"""A revert goes to what was deployed, and writes nothing that the rules of the stack refuse."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from holdfast.drift.context import DriftContext, RecordedObjects
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import NextUpdate
from holdfast.drift.plan.revert import ObjectPlan, Step
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.drift.severity import BrokenRule
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import format_path, parse_path, value_at
from holdfast.operations.remediate.revert import plan_revert
from holdfast.operations.scan.scanner import Scan

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, live_of

IMAGE, PRIVILEGED = f"{CONTAINER}.image", f"{CONTAINER}.securityContext.privileged"
MODE = f"{CONTAINER}.env[name=MODE]"
OLD, NEW, EVIL = "registry.example.test/agent:1", "registry.example.test/agent:2", "evil:1"
RULE = BrokenRule("no-privileged", is_mandatory=True, is_security=True)


def recorded(*deployed: KubeObject) -> RecordedObjects:
    """What an update of these objects left."""
    asked = {reference_of(one).identity: one for one in deployed}
    return RecordedObjects(
        {identity: partial(live_of, one) for identity, one in asked.items()},
        {},
        read_asked=asked.get,
    )


def judge(one: Mapping[str, Any]) -> Mapping[str, BrokenRule]:
    is_privileged = value_at(one, parse_path(PRIVILEGED)) is True
    return {RULE.name: RULE} if is_privileged else {}


def scan_of(
    declared: KubeObject, live: KubeObject | None, baseline: RecordedObjects | None
) -> Scan:
    context = DriftContext(autoscalers=Autoscalers(()), baseline=baseline, judge=judge)
    drift = DriftJudge([declared], context)
    found = LiveState({} if live is None else {reference_of(live).identity: live})
    desired = {identity: one for identity, (_, one) in drift.declared.items()}
    return Scan(drift.report(found), desired, found, context)


def planned(scan: Scan) -> ObjectPlan:
    [plan] = plan_revert(scan).objects
    return plan


def said(plan: ObjectPlan) -> dict[str, str]:
    return {format_path(step.finding.path): step.step.value for step in plan.steps}


def test_a_changed_declaration_is_shown_as_not_deployed_and_is_not_deployed_by_a_revert() -> None:
    declared = edit(DEPLOYMENT, {IMAGE: NEW})
    scan = scan_of(declared, live_of(DEPLOYMENT), recorded(DEPLOYMENT))
    [finding] = scan.report.drift
    assert (finding.next_update, finding.actors) == (NextUpdate.DEPLOYS, ())
    plan = planned(scan)
    assert not plan.acts
    assert plan.steps[0].reason.startswith("declared, not deployed")


def test_a_revert_restores_the_deployed_value_where_the_files_declare_a_newer_one() -> None:
    declared = edit(DEPLOYMENT, {IMAGE: NEW, MODE: {"name": "MODE", "value": "new"}})
    plan = planned(scan_of(declared, live_of(DEPLOYMENT, {IMAGE: EVIL}), recorded(DEPLOYMENT)))
    assert said(plan) == {IMAGE: "apply", MODE: "leave"}
    assert value_at(plan.apply, parse_path(IMAGE)) == OLD
    assert not value_at(plan.apply, parse_path(MODE))
    assert sorted(format_path(path) for path in plan.undeployed) == sorted((IMAGE, MODE))


def test_a_deleted_object_comes_back_as_it_was_deployed() -> None:
    declared = edit(DEPLOYMENT, {IMAGE: NEW})
    plan = planned(scan_of(declared, None, recorded(DEPLOYMENT)))
    assert value_at(plan.apply, parse_path(IMAGE)) == OLD


def test_an_object_that_no_update_has_deployed_is_left_to_the_next_one() -> None:
    scan = scan_of(DEPLOYMENT, None, recorded())
    assert [each.next_update for each in scan.report.drift] == [NextUpdate.DEPLOYS]
    assert not planned(scan).acts


def test_an_object_whose_record_cannot_be_trusted_was_deployed_all_the_same() -> None:
    identity = reference_of(DEPLOYMENT).identity
    scan = scan_of(DEPLOYMENT, None, RecordedObjects({}, {}, deployed=[identity]))
    assert planned(scan).requests == ("create",)


def test_a_value_that_another_client_wrote_during_the_update_is_drift_and_reverted() -> None:
    tampered = live_of(DEPLOYMENT, {IMAGE: EVIL})
    identity = reference_of(DEPLOYMENT).identity
    baseline = RecordedObjects({identity: lambda: tampered}, {}, read_asked=lambda _: DEPLOYMENT)
    scan = scan_of(DEPLOYMENT, tampered, baseline)
    assert [each.next_update for each in scan.report.drift] != [NextUpdate.DEPLOYS]
    assert value_at(planned(scan).apply, parse_path(IMAGE)) == OLD


@pytest.mark.parametrize(
    ("live", "acts"),
    [
        pytest.param(None, False, id="created"),
        pytest.param({PRIVILEGED: True, IMAGE: EVIL}, True, id="no worse than what is live"),
        pytest.param({PRIVILEGED: False, IMAGE: EVIL}, False, id="worse than what is live"),
    ],
)
def test_a_revert_writes_nothing_that_breaks_a_mandatory_rule(
    live: dict[str, Any] | None, acts: bool
) -> None:
    deployed = edit(DEPLOYMENT, {PRIVILEGED: True})
    found = None if live is None else live_of(deployed, live)
    plan = planned(scan_of(deployed, found, recorded(deployed)))
    assert plan.acts is acts
    reasons = {step.reason for step in plan.steps if step.step is Step.LEAVE}
    assert acts or reasons == {"what would be written breaks no-privileged"}


def test_removals_and_declared_values_go_by_one_patch_that_leaves_the_declared_object() -> None:
    """As of a Service turned into an ExternalName: each request alone would be invalid."""
    service: KubeObject = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "support", "namespace": "cx"},
        "spec": {"type": "ClusterIP", "ports": [{"port": 80}], "selector": {"app": "support"}},
    }
    live = live_of(service, {"spec.type": "ExternalName", "spec.externalName": "evil.example"})
    live["metadata"]["managedFields"] += [
        {"manager": "kubectl-edit", "operation": "Update", "time": "2026-11-21T12:00:00Z",
         "fieldsV1": {"f:spec": {"f:type": {}, "f:externalName": {}}}}
    ]  # fmt: skip
    plan = planned(scan_of(service, live, recorded(service)))
    assert (plan.apply, plan.requests) == (None, ("patch", "patch"))
    [operation] = [each for each in plan.patch if each["op"] != "test"]
    assert (operation["path"], operation["value"]) == ("/spec/type", "ClusterIP") or (
        operation["path"] == "/spec" and operation["value"] == service["spec"]
    )
