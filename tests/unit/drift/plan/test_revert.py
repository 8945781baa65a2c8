from typing import Any

import pytest
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftClass, Finding, NextUpdate
from holdfast.drift.object_drift import object_findings
from holdfast.drift.plan.revert import (
    ObjectPlan,
    Step,
    field_manager_for,
    plan_missing,
    plan_object,
)
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import ABSENT, format_path, parse_path, value_at

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, GONE, edit, findings, live_of, owned_by

DEBUG = f"{CONTAINER}.env[name=DEBUG]"
GUARDS = [
    {"op": "test", "path": "/metadata/uid", "value": "11111111-1111-1111-1111-111111111111"},
    {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
]


def plan(desired: KubeObject, live: KubeObject, **context: Any) -> ObjectPlan:
    context.setdefault("autoscalers", Autoscalers(()))
    surroundings = DriftContext(**context)
    ref = reference_of(desired)
    found = object_findings(ref, desired, live, surroundings)
    structure = surroundings.structure_of(ref, live)
    return plan_object([each for each in found if each.is_drift], desired, live, structure)


def steps(planned: ObjectPlan) -> list[tuple[str, str]]:
    return [(step.step.value, format_path(step.finding.path)) for step in planned.steps]


def test_a_declared_value_comes_back_by_applying_the_declaration_under_guard() -> None:
    planned = plan(DEPLOYMENT, live_of(DEPLOYMENT, {f"{CONTAINER}.image": "evil:1"}))
    assert steps(planned) == [("apply", f"{CONTAINER}.image")]
    assert planned.patch == ()
    assert planned.apply is not None
    assert (
        value_at(planned.apply, parse_path(f"{CONTAINER}.image")) == "registry.example.test/agent:1"
    )
    assert planned.apply["metadata"]["uid"] == "11111111-1111-1111-1111-111111111111"
    assert planned.apply["metadata"]["resourceVersion"] == "7"


def test_what_an_update_marked_an_object_with_stays_when_its_declaration_is_applied() -> None:
    marks = {
        'metadata.annotations["holdfast.dev/commit"]': "3f2a91c0",
        'spec.template.metadata.annotations["holdfast.dev/mounted-hash"]': "77ab02",
    }
    live = live_of(DEPLOYMENT, {f"{CONTAINER}.image": "evil:1", **marks})
    planned = plan(DEPLOYMENT, live)
    assert ("apply", f"{CONTAINER}.image") in steps(planned)
    assert planned.apply is not None
    for path, value in marks.items():
        assert value_at(planned.apply, parse_path(path)) == value


def test_an_addition_goes_by_a_patch_of_exactly_its_path_under_guard() -> None:
    live = owned_by("kubectl-set", DEBUG, live_of(DEPLOYMENT, {DEBUG: {"name": "DEBUG"}}))
    planned = plan(DEPLOYMENT, live)
    assert steps(planned) == [("remove", DEBUG)]
    assert planned.apply is None
    where = "/spec/template/spec/containers/0/env/2"
    assert list(planned.patch) == [*GUARDS, {"op": "remove", "path": where}]


def test_several_items_of_a_list_are_removed_from_its_end() -> None:
    live = live_of(DEPLOYMENT, managedFields=[{}])
    containers = live["spec"]["template"]["spec"]["containers"]
    live["spec"]["template"]["spec"]["containers"] = [
        {"name": "first", "image": "x"}, *containers, {"name": "last", "image": "x"}
    ]  # fmt: skip
    paths = [operation["path"] for operation in plan(DEPLOYMENT, live).patch[2:]]
    assert paths == ["/spec/template/spec/containers/2", "/spec/template/spec/containers/0"]


def test_an_overwritten_default_is_removed_so_that_the_server_fills_it_in() -> None:
    path = f"{CONTAINER}.imagePullPolicy"
    planned = plan(DEPLOYMENT, owned_by("x", path, live_of(DEPLOYMENT, {path: "Always"})))
    assert steps(planned) == [("reset", path)]
    assert planned.patch[-1] == {
        "op": "remove",
        "path": "/spec/template/spec/containers/0/imagePullPolicy",
    }


def test_what_the_baseline_knew_is_set_to_what_it_was() -> None:
    path = "metadata.labels.stamp"
    before = live_of(DEPLOYMENT, {path: "old"})
    now = owned_by("x", path, edit(before, {path: "new"}))
    planned = plan(DEPLOYMENT, now, baseline={reference_of(DEPLOYMENT).identity: before})
    assert planned.patch[-1] == {"op": "replace", "path": "/metadata/labels/stamp", "value": "old"}


def test_replicas_of_an_autoscaler_survive_the_return_of_an_image() -> None:
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "support", "namespace": "cx"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "support"},
            "maxReplicas": 5,
        },
    }
    live = live_of(DEPLOYMENT, {"spec.replicas": 4, f"{CONTAINER}.image": "evil:1"})
    live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].pop("f:replicas")
    planned = plan(DEPLOYMENT, live, autoscalers=Autoscalers([autoscaler]))
    assert steps(planned) == [("apply", f"{CONTAINER}.image")]
    assert planned.apply is not None
    assert planned.apply["spec"]["replicas"] == 4


def declared(api_version: str, kind: str, **body: Any) -> KubeObject:
    return {
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": "one", "namespace": "cx", "labels": {"a": "b"}}, **body,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "edits", "reason"),
    [
        pytest.param(DEPLOYMENT, {"spec.selector.matchLabels.app": "x"}, "again", id="selector"),
        pytest.param(
            declared("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef={"name": "a"}),
            {"roleRef.name": "cluster-admin"}, "--allow-replace", id="role of a binding",
        ),
        pytest.param(
            declared("apps/v1", "StatefulSet", spec={"serviceName": "a", "template": {}}),
            {"spec.serviceName": "b"}, "--allow-replace", id="governing service",
        ),
        pytest.param(
            declared("v1", "PersistentVolumeClaim",
                     spec={"resources": {"requests": {"storage": "1Gi"}}}),
            {"spec.resources.requests.storage": "2Gi"}, "cannot shrink", id="claim grown",
        ),
        pytest.param(
            declared("v1", "ConfigMap", data={"a": "b"}),
            {"data.a": "c", "immutable": True}, "immutable", id="immutable",
        ),
    ],
)  # fmt: skip
def test_what_only_a_replacement_could_change_is_left_alone(
    one: KubeObject, edits: dict[str, Any], reason: str
) -> None:
    planned = plan(one, live_of(one, edits, managedFields=[{}]))
    assert {step.step for step in planned.steps} == {Step.LEAVE}
    assert reason in planned.steps[0].reason
    assert not planned.acts


def test_what_cannot_be_reverted_does_not_keep_the_rest_from_it() -> None:
    live = live_of(DEPLOYMENT, {"spec.selector.matchLabels.app": "x", f"{CONTAINER}.image": "e:1"})
    planned = plan(DEPLOYMENT, live)
    assert {path: step for step, path in steps(planned)} == {
        "spec.selector.matchLabels.app": "leave",
        f"{CONTAINER}.image": "apply",
    }
    assert planned.apply is not None
    assert planned.apply["spec"]["selector"] == {"matchLabels": {"app": "x"}}


def test_what_admission_set_is_left_to_it() -> None:
    live = live_of(DEPLOYMENT, {"spec.template.spec.hostNetwork": True})
    (step,) = plan(DEPLOYMENT, live).steps
    assert step.step is Step.LEAVE
    assert "admission" in step.reason


@pytest.mark.parametrize("drift_class", [DriftClass.UNMANAGED, DriftClass.TERMINATING])
def test_whole_objects_are_never_deleted_or_recreated_by_a_revert(drift_class: DriftClass) -> None:
    finding = Finding(reference_of(DEPLOYMENT), "", drift_class)
    context = DriftContext(autoscalers=Autoscalers(()))
    live = live_of(DEPLOYMENT)
    structure = context.structure_of(finding.ref, live)
    planned = plan_object([finding], DEPLOYMENT, live, structure)
    assert planned.steps[0].reason
    assert not planned.acts


def test_a_recreated_object_is_confirmed_and_nothing_is_written_to_it() -> None:
    finding = Finding(reference_of(DEPLOYMENT), "", DriftClass.RECREATED)
    live = live_of(DEPLOYMENT)
    structure = DriftContext(autoscalers=Autoscalers(())).structure_of(finding.ref, live)
    planned = plan_object([finding], DEPLOYMENT, live, structure)
    assert (planned.acts, planned.confirms, planned.requests) == (True, True, ())


def test_what_is_declared_no_more_is_left_to_the_update_that_deletes_it() -> None:
    ref, update = reference_of(DEPLOYMENT), NextUpdate.DELETES
    finding = Finding(ref, "", DriftClass.UNMANAGED, next_update=update)
    live = live_of(DEPLOYMENT)
    structure = DriftContext(autoscalers=Autoscalers(())).structure_of(ref, live)
    (step,) = plan_object([finding], DEPLOYMENT, live, structure).steps
    assert step.reason == "no longer declared since the last update: the next update deletes it"


def test_a_missing_object_is_made_as_declared_without_status() -> None:
    finding = Finding(reference_of(DEPLOYMENT), "", DriftClass.MISSING)
    planned = plan_missing(finding, {**DEPLOYMENT, "status": {"replicas": 1}})
    assert planned.apply == DEPLOYMENT
    assert planned.steps[0].step is Step.CREATE


def test_a_removed_item_comes_back_with_the_declaration() -> None:
    planned = plan(DEPLOYMENT, live_of(DEPLOYMENT, {f"{CONTAINER}.env[name=HOST]": GONE}))
    assert steps(planned) == [("apply", f"{CONTAINER}.env[name=HOST]")]


ANNOTATION = 'metadata.annotations["pulumi.com/patchFieldManager"]'


def applied_by(*managers: str) -> KubeObject:
    entries = [
        {"manager": name, "operation": "Apply", "fieldsV1": {"f:x": {}}} for name in managers
    ]
    return live_of(DEPLOYMENT, managedFields=entries)


@pytest.mark.parametrize(
    ("desired", "live", "manager"),
    [
        pytest.param(edit(DEPLOYMENT, {ANNOTATION: "ours"}), applied_by("x"), "ours", id="named"),
        pytest.param(DEPLOYMENT, applied_by("kubectl"), "kubectl", id="who applied it"),
        pytest.param(
            DEPLOYMENT, applied_by("other", "pulumi-kubernetes-0a1b2c3d"),
            "pulumi-kubernetes-0a1b2c3d", id="deployer among others",
        ),
        pytest.param(DEPLOYMENT, applied_by("one", "two"), "holdfast", id="nobody in particular"),
        pytest.param(DEPLOYMENT, live_of(DEPLOYMENT, managedFields=[{}]), "holdfast", id="wiped"),
        pytest.param(DEPLOYMENT, None, "holdfast", id="missing"),
    ],
)  # fmt: skip
def test_a_declaration_keeps_its_one_owner(
    desired: KubeObject, live: KubeObject | None, manager: str
) -> None:
    assert field_manager_for(desired, live) == manager


BINDING = declared("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef={"name": "a"})
CLAIM = declared("v1", "PersistentVolumeClaim", spec={"storageClassName": "fast"})


def test_what_cannot_be_changed_in_place_is_replaced_when_that_is_allowed() -> None:
    live = live_of(BINDING, {"roleRef.name": "cluster-admin", "metadata.labels.a": "c"})
    found = [each for each in findings(BINDING, live) if each.is_drift]
    structure = DriftContext(autoscalers=Autoscalers(())).structure_of(found[0].ref, live)
    planned = plan_object(found, BINDING, live, structure, may_replace=True)
    assert {step.step for step in planned.steps} == {Step.REPLACE}
    assert planned.requests == ("delete", "create")
    assert planned.replacement is not None
    assert planned.replacement["roleRef"] == {"name": "a"}
    assert "resourceVersion" not in planned.replacement["metadata"]


def test_a_claim_is_never_replaced() -> None:
    live = live_of(CLAIM, {"spec.storageClassName": "slow"})
    found = [each for each in findings(CLAIM, live) if each.is_drift]
    structure = DriftContext(autoscalers=Autoscalers(())).structure_of(found[0].ref, live)
    planned = plan_object(found, CLAIM, live, structure, may_replace=True)
    assert [step.step for step in planned.steps] == [Step.LEAVE]
    assert "what it holds would go with it" in planned.steps[0].reason


@pytest.mark.parametrize(
    ("edits", "requests", "restarts"),
    [
        pytest.param({f"{CONTAINER}.image": "evil:1"}, ("apply",), True, id="template"),
        pytest.param({"spec.replicas": 9}, ("apply",), False, id="replicas"),
        pytest.param({DEBUG: {"name": "DEBUG"}}, ("patch",), True, id="addition"),
        pytest.param(
            {"spec.replicas": 9, "spec.paused": True}, ("patch", "patch"), False, id="both"
        ),
    ],
)
def test_a_plan_names_its_requests_and_whether_pods_restart(
    edits: dict[str, Any], requests: tuple[str, ...], restarts: bool
) -> None:
    live = live_of(DEPLOYMENT, edits)
    for path in (DEBUG, "spec.paused"):
        live = owned_by("kubectl-patch", path, live) if path in edits else live
    planned = plan(DEPLOYMENT, live)
    assert planned.requests == requests
    assert planned.restarts_pods is restarts


LEGACY = {
    f"{CONTAINER}.env[name=LEGACY_MODE]": {"name": "LEGACY_MODE", "value": "on"},
    "metadata.labels.generation": "one",
}
IMAGE = f"{CONTAINER}.image"


def plan_after(deployed: KubeObject, edits: dict[str, Any]) -> ObjectPlan:
    """What puts an object back that was deployed so and edited then; the files say DEPLOYMENT."""
    baseline = {reference_of(DEPLOYMENT).identity: deployed}
    return plan(DEPLOYMENT, edit(deployed, edits), baseline=baseline)


def test_a_revert_keeps_what_the_files_removed_and_no_update_has_deployed() -> None:
    planned = plan_after(live_of(edit(DEPLOYMENT, LEGACY)), {IMAGE: "evil:1"})
    assert steps(planned) == [("apply", IMAGE)]
    assert planned.apply is not None
    for path, value in LEGACY.items():
        assert value_at(planned.apply, parse_path(path)) == value
    assert sorted(format_path(path) for path in planned.undeployed) == sorted(LEGACY)


def test_a_revert_of_what_is_deployed_as_declared_keeps_nothing_beside_it() -> None:
    assert plan_after(live_of(DEPLOYMENT), {IMAGE: "evil:1"}).undeployed == ()


def test_what_is_kept_stands_where_it_stood_so_that_no_pod_is_rolled_for_it() -> None:
    deployed = live_of(edit(DEPLOYMENT, LEGACY))
    environment = deployed["spec"]["template"]["spec"]["containers"][0]["env"]
    environment.insert(0, environment.pop())
    order = [each["name"] for each in value_at(deployed, parse_path(f"{CONTAINER}.env"))]
    assert order[0] == "LEGACY_MODE"
    planned = plan_after(deployed, {IMAGE: "evil:1"})
    assert [
        each["name"] for each in value_at(planned.apply, parse_path(f"{CONTAINER}.env"))
    ] == order


def test_what_a_revert_removes_is_not_kept_although_the_manager_of_the_apply_owns_it() -> None:
    added = live_of(edit(DEPLOYMENT, {DEBUG: {"name": "DEBUG", "value": "1"}}))
    live = edit(added, {IMAGE: "evil:1"})
    planned = plan(
        DEPLOYMENT, live, baseline={reference_of(DEPLOYMENT).identity: live_of(DEPLOYMENT)}
    )
    assert set(steps(planned)) == {("apply", IMAGE), ("remove", DEBUG)}
    assert value_at(planned.apply, parse_path(DEBUG)) is ABSENT
    assert planned.undeployed == ()


@pytest.mark.parametrize(
    ("fields", "path", "kept"),
    [
        pytest.param(
            {"f:metadata": {"f:finalizers": {".": {}, 'v:"cx.example/guard"': {}}}},
            "metadata.finalizers", ["cx.example/guard"], id="an item of a set",
        ),
        pytest.param(
            {"f:spec": {"f:template": {"f:spec": {"f:containers": {
                'k:{"name":"agent"}': {"f:ports": {
                    'k:{"containerPort":9090,"protocol":"TCP"}': {
                        ".": {}, "f:containerPort": {}, "f:name": {}}}}}}}}},
            f"{CONTAINER}.ports[containerPort=9090,protocol=TCP]",
            {"containerPort": 9090, "name": "metrics", "protocol": "TCP"}, id="an item of two keys",
        ),
    ],
)  # fmt: skip
def test_items_are_kept_by_the_keys_under_which_they_are_owned(
    fields: dict[str, Any], path: str, kept: Any
) -> None:
    deployed = live_of(edit(DEPLOYMENT, {path: kept}))
    deployed["metadata"]["managedFields"].append(
        {"manager": "holdfast", "operation": "Apply", "fieldsV1": fields}
    )
    planned = plan_after(deployed, {IMAGE: "evil:1"})
    assert value_at(planned.apply, parse_path(path)) == kept
