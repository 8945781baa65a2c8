"""Which differences are drift: who owns them, what was there before, what a controller decides."""

import base64
from typing import Any

import pytest
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import ExpectedBy, Severity
from holdfast.kube.objects import KubeObject

from tests.unit.drift.objects import (
    CONTAINER,
    DEPLOYMENT,
    drift,
    edit,
    findings,
    identity,
    live_of,
    owned_by,
    summary,
)

SIDECAR = {f"{CONTAINER.replace('agent', 'tap')}": {"name": "tap", "image": "t:1"}}
TAP = CONTAINER.replace("agent", "tap")


def test_what_is_as_declared_is_in_sync() -> None:
    assert findings(DEPLOYMENT, live_of(DEPLOYMENT)) == []


def test_a_declared_value_is_drift_those_who_owns_it() -> None:
    live = live_of(DEPLOYMENT, {f"{CONTAINER}.image": "evil:1"})
    assert drift(DEPLOYMENT, live) == [("changed", f"{CONTAINER}.image")]


@pytest.mark.parametrize(
    "manager",
    [
        pytest.param("kubectl-edit", id="person"),
        pytest.param("holdfast", id="our own name, which anybody may use"),
        pytest.param("kube-controller-manager", id="name of a controller"),
    ],
)
def test_an_addition_that_somebody_owns_is_drift(manager: str) -> None:
    live = owned_by(manager, TAP, live_of(DEPLOYMENT, SIDECAR))
    assert drift(DEPLOYMENT, live) == [("added", TAP)]


def test_an_item_that_nobody_owns_was_added_by_admission() -> None:
    (found,) = findings(DEPLOYMENT, live_of(DEPLOYMENT, SIDECAR))
    assert [actor.manager for actor in found.actors] == ["(admission)"]


def test_what_its_owner_has_not_written_since_the_baseline_was_rewritten_by_admission() -> None:
    live = live_of(DEPLOYMENT, {"spec.replicas": 3})
    (found,) = findings(DEPLOYMENT, live, baseline={identity(DEPLOYMENT): live_of(DEPLOYMENT)})
    assert [actor.manager for actor in found.actors] == ["(admission)"]


def test_an_owner_that_has_written_since_the_baseline_is_named() -> None:
    live = owned_by("kubectl-edit", "spec.replicas", live_of(DEPLOYMENT, {"spec.replicas": 3}))
    (found,) = findings(DEPLOYMENT, live, baseline={identity(DEPLOYMENT): live_of(DEPLOYMENT)})
    assert [actor.manager for actor in found.actors] == ["kubectl-edit"]


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        pytest.param("dashboard", [("added", TAP)], id="of another client"),
        pytest.param("holdfast", [], id="of the deployer"),
        pytest.param("", [], id="of nobody: admission's"),
    ],
)
def test_what_another_client_owned_when_the_baseline_was_recorded_is_no_part_of_it(
    manager: str, expected: list[tuple[str, str]]
) -> None:
    """Whether it was written before the update, which passed over it, or while it ran."""
    live = live_of(DEPLOYMENT, SIDECAR)
    live = owned_by(manager, TAP, live) if manager else live
    assert drift(DEPLOYMENT, live, baseline={identity(DEPLOYMENT): live}) == expected


def test_an_undeclared_value_that_equals_its_baseline_is_no_drift_those_who_owns_it_now() -> None:
    label = {"metadata.labels.zone": "eu-1"}
    before = live_of(DEPLOYMENT, label)
    now = owned_by("inventory", "metadata.labels.zone", before)
    assert drift(DEPLOYMENT, now, baseline={identity(DEPLOYMENT): before}) == []


def test_what_admission_added_when_the_object_was_made_is_no_drift() -> None:
    assert findings(DEPLOYMENT, live_of(DEPLOYMENT, SIDECAR, generation=1)) == []


def test_a_wiped_record_of_owners_proves_nothing() -> None:
    live = live_of(DEPLOYMENT, SIDECAR, generation=1, managedFields=[{}])
    assert drift(DEPLOYMENT, live) == [("added", TAP)]


def test_a_default_is_no_drift_even_when_the_record_is_wiped() -> None:
    defaults = {"spec.revisionHistoryLimit": 10, f"{CONTAINER}.terminationMessagePolicy": "File"}
    assert drift(DEPLOYMENT, live_of(DEPLOYMENT, defaults, managedFields=[{}])) == []


def test_a_default_that_somebody_overwrote_is_changed_not_added() -> None:
    path = f"{CONTAINER}.imagePullPolicy"
    live = owned_by("kubectl-edit", path, live_of(DEPLOYMENT, {path: "Always"}))
    (found,) = findings(DEPLOYMENT, live)
    assert summary([found]) == [("changed", path)]
    assert (found.desired, found.live) == ("IfNotPresent", "Always")
    assert found.expected_by is ExpectedBy.DEFAULT


class TestBaseline:
    def around(self, before: KubeObject) -> dict[str, Any]:
        return {"baseline": {identity(DEPLOYMENT): before}}

    def test_what_was_there_before_is_no_drift(self) -> None:
        live = live_of(DEPLOYMENT, SIDECAR)
        assert findings(DEPLOYMENT, live, **self.around(live)) == []

    def test_what_moved_since_then_is_named_exactly(self) -> None:
        before = live_of(DEPLOYMENT, SIDECAR)
        now = owned_by("kubectl-edit", f"{TAP}.image", edit(before, {f"{TAP}.image": "t:2"}))
        (found,) = findings(DEPLOYMENT, now, **self.around(before))
        assert summary([found]) == [("changed", f"{TAP}.image")]
        assert found.expected_by is ExpectedBy.BASELINE

    def test_a_recreated_object_is_drift_until_it_is_confirmed(self) -> None:
        before = live_of(DEPLOYMENT, uid="22222222-2222-2222-2222-222222222222")
        assert drift(DEPLOYMENT, live_of(DEPLOYMENT), **self.around(before)) == [("recreated", "")]
        confirmed = {**self.around(before), "is_confirmed": lambda _: True}
        assert findings(DEPLOYMENT, live_of(DEPLOYMENT), **confirmed) == []


class TestReplicas:
    AUTOSCALER: KubeObject = {  # noqa: RUF012  (read only)
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "support", "namespace": "cx"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "support"},
            "maxReplicas": 5,
        },
    }

    def scaled(self, replicas: int, manager: str) -> KubeObject:
        live = live_of(DEPLOYMENT, {"spec.replicas": replicas})
        live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].pop("f:replicas", None)
        return owned_by(manager, "spec.replicas", live, subresource="scale")

    @pytest.mark.parametrize(
        ("replicas", "manager", "expected"),
        [
            pytest.param(4, "kube-controller-manager", [], id="autoscaler within the range"),
            pytest.param(9, "kube-controller-manager", [("changed", "spec.replicas")], id="above"),
            pytest.param(0, "kubectl", [("changed", "spec.replicas")], id="absent minimum is one"),
            pytest.param(4, "kubectl", [], id="person within the range"),
        ],
    )
    def test_an_autoscaler_may_choose_within_its_range(
        self, replicas: int, manager: str, expected: list[tuple[str, str]]
    ) -> None:
        live = self.scaled(replicas, manager)
        assert drift(DEPLOYMENT, live, autoscalers=Autoscalers([self.AUTOSCALER])) == expected

    def test_a_person_within_the_range_is_worth_a_remark(self) -> None:
        live = self.scaled(4, "kubectl")
        (found,) = findings(DEPLOYMENT, live, autoscalers=Autoscalers([self.AUTOSCALER]))
        assert found.severity is Severity.INFO

    def test_without_an_autoscaler_the_count_is_as_declared(self) -> None:
        assert drift(DEPLOYMENT, self.scaled(4, "kubectl")) == [("changed", "spec.replicas")]

    @pytest.mark.parametrize(
        "other",
        [
            pytest.param({"spec.scaleTargetRef.name": "other"}, id="another workload"),
            pytest.param({"spec.scaleTargetRef.kind": "StatefulSet"}, id="another kind"),
            pytest.param({"spec.scaleTargetRef.apiVersion": "x.example/v1"}, id="another group"),
            pytest.param({"metadata.namespace": "other"}, id="another namespace"),
        ],
    )
    def test_an_autoscaler_of_something_else_does_not_count(self, other: dict[str, Any]) -> None:
        autoscalers = Autoscalers([edit(self.AUTOSCALER, other)])
        live = self.scaled(4, "kube-controller-manager")
        assert drift(DEPLOYMENT, live, autoscalers=autoscalers) == [("changed", "spec.replicas")]


RESTARTED = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
LAST_APPLIED = 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]'


@pytest.mark.parametrize(
    "path", [pytest.param(RESTARTED, id="restart"), pytest.param(LAST_APPLIED, id="apply")]
)
def test_traces_of_people_are_remarks(path: str) -> None:
    live = owned_by("kubectl-rollout", path, live_of(DEPLOYMENT, {path: "now"}))
    (found,) = findings(DEPLOYMENT, live)
    assert summary([found]) == [("added", path)]
    assert found.severity is Severity.INFO
    assert drift(DEPLOYMENT, live) == []


def declared(api_version: str, kind: str, **body: Any) -> KubeObject:
    metadata = {"name": "one", "namespace": "cx", "labels": {"a": "b"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


@pytest.mark.parametrize(
    ("kind", "key", "severity"),
    [
        pytest.param("Agent", "holdfast.dev/paused", Severity.LOW, id="pause"),
        pytest.param("Agent", "holdfast.dev/settled", Severity.LOW, id="end of a conflict"),
        pytest.param("ConfigMap", "holdfast.dev/commit", Severity.LOW, id="commit"),
        pytest.param("Agent", "holdfast.dev/revision", Severity.LOW, id="revision"),
    ],
)
def test_our_own_marks_are_fields_like_others(kind: str, key: str, severity: Severity) -> None:
    one = declared("holdfast.dev/v1alpha1", kind, spec={})
    one["metadata"]["annotations"] = {"a": "b"}
    path = f'metadata.annotations["{key}"]'
    live = owned_by("holdfast", path, live_of(one, {path: "true"}))
    (found,) = findings(one, live)
    assert (summary([found]), found.severity) == ([("added", path)], severity)


@pytest.mark.parametrize(
    ("one", "edits", "manager"),
    [
        pytest.param(
            declared("v1", "Namespace"),
            {'metadata.labels["kubernetes.io/metadata.name"]': "one",
             "spec.finalizers": ["kubernetes"]},
            "",
            id="namespace",
        ),
        pytest.param(
            declared("v1", "ServiceAccount"),
            {"secrets": [{"name": "one-token-ab1cd"}]},
            "",
            id="account",
        ),
        pytest.param(
            declared("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"]}),
            {'metadata.annotations["pv.kubernetes.io/bind-completed"]': "yes",
             "spec.volumeName": "pvc-11111111-1111-1111-1111-111111111111",
             "spec.storageClassName": "fast"},
            "kube-controller-manager",
            id="bound claim",
        ),
        pytest.param(
            declared("v1", "Service", spec={"ports": [{"port": 80}]}),
            {"spec.clusterIP": "10.0.0.1", "spec.clusterIPs": ["10.0.0.1"],
             "spec.ipFamilies": ["IPv4"], "spec.ipFamilyPolicy": "SingleStack"},
            "",
            id="addresses of a service",
        ),
        pytest.param(
            declared("v1", "Service", spec={"ports": [{"port": 80}]}),
            {"metadata.finalizers": ["service.kubernetes.io/load-balancer-cleanup"]},
            "cloud-controller-manager",
            id="cleanup of a load balancer",
        ),
    ],
)  # fmt: skip
def test_the_servers_own_fields_are_never_drift(
    one: KubeObject, edits: dict[str, Any], manager: str
) -> None:
    live = live_of(one, edits)
    for path in edits:
        live = owned_by(manager, path, live) if manager else live
    assert drift(one, live) == []


def test_a_finalizer_of_a_person_is_drift() -> None:
    one = declared("v1", "ConfigMap")
    path = "metadata.finalizers"
    live = owned_by("kubectl-patch", path, live_of(one, {path: ["hold.example.test/x"]}))
    assert drift(one, live) == [("added", "metadata.finalizers[0]")]


CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMII\n").decode()
BUNDLE = "webhooks[name=w].clientConfig.caBundle"


@pytest.mark.parametrize(
    ("annotation", "manager", "expected"),
    [
        pytest.param(
            "cert-manager.io/inject-ca-from", "cert-manager-cainjector", 0, id="asked for"
        ),
        pytest.param("cert-manager.io/inject-ca-from", "kubectl-edit", 1, id="by a person"),
        pytest.param("unrelated", "cert-manager-cainjector", 1, id="not asked for"),
    ],
)
def test_a_bundle_may_be_injected_where_the_declaration_asks_for_it(
    annotation: str, manager: str, expected: int
) -> None:
    one = declared(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        webhooks=[{"name": "w", "clientConfig": {"service": {"name": "s", "namespace": "n"}}}],
    )
    one["metadata"]["annotations"] = {annotation: "x"}
    live = owned_by(manager, BUNDLE, live_of(one, {BUNDLE: CERTIFICATE}))
    assert len(drift(one, live)) == expected


def test_node_ports_follow_a_changed_type_silently() -> None:
    one = declared("v1", "Service", spec={"type": "ClusterIP", "ports": [{"port": 80}]})
    live = live_of(one, {"spec.type": "NodePort"})
    live["spec"]["ports"][0] |= {"protocol": "TCP", "nodePort": 30080}
    live["spec"]["externalTrafficPolicy"] = "Cluster"
    assert drift(one, live) == [("changed", "spec.type")]


def test_a_custom_resource_without_schema_is_judged_by_what_is_owned() -> None:
    one = declared("example.test/v1", "Agent", spec={"model": "small"})
    live = live_of(one, {"spec.defaulted": 5})
    assert drift(one, live) == []
    live = owned_by("kubectl-patch", "spec.extra", live_of(one, {"spec.extra": 5}))
    assert drift(one, live) == [("added", "spec.extra")]


def test_the_time_of_creation_is_not_taken_for_that_of_a_later_write() -> None:
    label = "metadata.labels.stamped"
    assert drift(DEPLOYMENT, live_of(DEPLOYMENT, {label: "1"})) == []
    later = owned_by("kubectl-set", f"{CONTAINER}.image", live_of(DEPLOYMENT, {label: "1"}))
    assert drift(DEPLOYMENT, later) == [("added", label)]


def test_an_older_version_of_a_known_kind_is_compared_by_its_known_types() -> None:
    one = declared("apps/v1beta2", "Deployment", spec=DEPLOYMENT["spec"])
    live = live_of(one, {f"{CONTAINER}.resources.limits.cpu": "1000m"})
    assert drift(one, live) == []


@pytest.mark.parametrize(
    ("kind", "edits", "manager"),
    [
        pytest.param(
            "ConfigMap",
            {"metadata.ownerReferences": [{"uid": "1", "name": "x", "controller": True}]},
            "evil-controller",
            id="an owner, by a name that anybody can choose",
        ),
        pytest.param(
            "Service",
            {'metadata.annotations["service.beta.kubernetes.io/scheme"]': "internet-facing"},
            "",
            id="a field of a cloud's controller that nobody owns",
        ),
        pytest.param(
            "Service", {"metadata.finalizers": ["trap"]}, "", id="a finalizer that nobody owns"
        ),
    ],
)
def test_what_a_controller_would_own_is_drift_without_its_ownership(
    kind: str, edits: dict[str, Any], manager: str
) -> None:
    live = live_of(declared("v1", kind), edits)
    if manager:
        live = owned_by(manager, "metadata.ownerReferences", live)
    else:
        live["metadata"]["managedFields"] = []
    assert drift(declared("v1", kind), live) != []
