"""The whole report of one scan."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftReport, NotChecked
from holdfast.drift.scan import DriftJudge, LiveState, observed_objects
from holdfast.kube.objects import Identity, KubeObject

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, findings, identity, live_of

NAMESPACE: KubeObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cx"}}
CONFIG: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "support", "namespace": "cx"},
    "data": {"a": "b"},
}


AROUND = DriftContext(autoscalers=Autoscalers([]))


def scan(desired: list[KubeObject], live: list[KubeObject], **more: Any) -> DriftReport:
    stack = more.pop("stack", "")
    state = LiveState({identity(one): one for one in live}, **more)
    return DriftJudge(desired, DriftContext(autoscalers=Autoscalers(desired)), stack).report(state)


def found(report: DriftReport) -> list[tuple[str, str]]:
    return [(each.drift_class.value, str(each.ref)) for each in report.findings]


def test_what_is_not_there_is_missing() -> None:
    report = scan([CONFIG], [])
    assert found(report) == [("missing", "ConfigMap cx/support")]
    assert report.is_complete


def test_what_could_not_be_read_is_not_missing() -> None:
    reason = NotChecked("ConfigMap in cx", "forbidden")
    report = scan([CONFIG], [], unread={identity(CONFIG): reason})
    assert report.findings == ()
    assert report.not_checked == (reason,)
    assert not report.is_complete
    assert report.objects_checked == 0


def test_findings_are_sorted_by_namespace_kind_name_and_path() -> None:
    other = edit(CONFIG, {"metadata.name": "another", "metadata.namespace": "ax"})
    live = live_of(DEPLOYMENT, {"spec.replicas": 9, "metadata.labels.tier": "back"})
    report = scan([DEPLOYMENT, CONFIG, other], [live])
    assert [(str(each.ref), each.path) for each in report.findings] == [
        ("ConfigMap ax/another", ()),
        ("ConfigMap cx/support", ()),
        ("Deployment cx/support", ("metadata", "labels", "tier")),
        ("Deployment cx/support", ("spec", "replicas")),
    ]


def test_deletion_under_way_is_said() -> None:
    live = live_of(CONFIG, deletionTimestamp="2026-11-21T10:00:00Z", finalizers=["orphan"])
    assert found(scan([CONFIG], [live])) == [("terminating", "ConfigMap cx/support")]


def of_stack(name: str) -> dict[str, Any]:
    return {
        'metadata.labels["app.kubernetes.io/managed-by"]': "holdfast",
        'metadata.labels["app.kubernetes.io/instance"]': name,
    }


class TestUnmanaged:
    def other(self, edits: dict[str, Any]) -> KubeObject:
        return live_of(edit(CONFIG, {"metadata.name": "extra", **edits}))

    def test_an_object_in_a_declared_namespace_that_nobody_declared(self) -> None:
        report = scan([NAMESPACE, CONFIG], [live_of(NAMESPACE), live_of(CONFIG), self.other({})])
        assert found(report) == [("unmanaged", "ConfigMap cx/extra")]

    def test_a_namespace_of_others_is_not_our_business(self) -> None:
        assert found(scan([CONFIG], [live_of(CONFIG), self.other({})])) == []

    def test_the_label_of_the_stack_makes_it_our_business_anywhere(self) -> None:
        labelled = self.other(of_stack("dev"))
        report = scan([CONFIG], [live_of(CONFIG), labelled], stack="dev")
        assert found(report) == [("unmanaged", "ConfigMap cx/extra")]

    @pytest.mark.parametrize(
        "edits",
        [
            pytest.param({"metadata.name": "kube-root-ca.crt"}, id="the cluster's own"),
            pytest.param({"kind": "LimitRange"}, id="kind that is not declared"),
        ],
    )
    def test_what_belongs_to_somebody_else_is_left_out(self, edits: dict[str, Any]) -> None:
        live = [live_of(NAMESPACE), live_of(CONFIG), self.other(edits)]
        assert found(scan([NAMESPACE, CONFIG], live, stack="dev")) == []

    @pytest.mark.parametrize(("declaring", "is_found"), [("prod", False), ("", True)])
    def test_the_label_of_another_stack_counts_where_that_stack_declares_the_object(
        self, declaring: str, is_found: bool
    ) -> None:
        def declares(stack: str, identity: Identity) -> bool:
            return (stack, identity.name) == (declaring, "extra")

        live = [live_of(NAMESPACE), live_of(CONFIG), self.other(of_stack("prod"))]
        state = LiveState({identity(one): one for one in live})
        context = replace(AROUND, declares=declares)
        report = DriftJudge([NAMESPACE, CONFIG], context, "dev").report(state)
        assert bool(found(report)) is is_found

    def test_what_runs_although_its_kind_is_not_declared(self) -> None:
        pod = {**self.other({}), "apiVersion": "v1", "kind": "Pod"}
        live = [live_of(NAMESPACE), live_of(CONFIG), pod]
        assert found(scan([NAMESPACE, CONFIG], live)) == []
        watched = frozenset({("", "Pod")})
        report = scan([NAMESPACE, CONFIG], live, watched=watched)
        assert found(report) == [("unmanaged", "Pod cx/extra")]

    def test_what_a_declared_object_refers_to_is_meant_to_be_there(self) -> None:
        refers = {"name": "V", "valueFrom": {"configMapKeyRef": {"name": "extra", "key": "k"}}}
        using = edit(DEPLOYMENT, {f"{CONTAINER}.env[name=V]": refers})
        live = [live_of(one) for one in (NAMESPACE, CONFIG, using)]
        assert found(scan([NAMESPACE, CONFIG, using], [*live, self.other({})])) == []

    def test_the_claims_of_a_stateful_set_belong_to_it(self) -> None:
        meta = {"name": "memory", "namespace": "cx"}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {}}
        stateful: KubeObject = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": meta,
            "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
        }
        declared = {**claim, "metadata": {"name": "own", "namespace": "cx"}}
        made = [
            {**claim, "metadata": {"name": name, "namespace": "cx"}}
            for name in ("data-memory-0", "data-memory-x")
        ]
        live = [live_of(one) for one in (NAMESPACE, stateful, declared, *made)]
        report = scan([NAMESPACE, stateful, declared], live)
        assert found(report) == [("unmanaged", "PersistentVolumeClaim cx/data-memory-x")]


def test_the_agent_of_a_finding_is_that_of_its_object() -> None:
    (each,) = scan([DEPLOYMENT], []).findings
    assert each.agent == "support"


def test_judging_only_what_moved_finds_what_the_whole_report_finds_there() -> None:
    stranger = edit(CONFIG, {"metadata.name": "stranger"})
    moved = live_of(DEPLOYMENT, {"spec.replicas": 9})
    desired = [NAMESPACE, CONFIG, DEPLOYMENT]
    live = LiveState({identity(one): one for one in (NAMESPACE, moved, stranger)})
    judge = DriftJudge(desired, DriftContext(autoscalers=Autoscalers(desired)))
    whole = judge.report(live)
    assert len({each.ref for each in whole.findings}) == 3
    for one in (NAMESPACE, CONFIG, moved, stranger):
        alone = judge.report(live, only=[identity(one)])
        assert alone.findings == tuple(
            each for each in whole.findings if each.ref.identity == identity(one)
        )


def test_without_findings_it_is_the_declaration() -> None:
    assert list(observed_objects([DEPLOYMENT], [])) == [DEPLOYMENT]


def test_what_was_changed_added_and_removed_is_as_it_was_found() -> None:
    edits = {
        f"{CONTAINER}.image": "evil:1",
        CONTAINER.replace("agent", "tap"): {"name": "tap", "image": "t:1"},
    }
    live = live_of(DEPLOYMENT, edits)
    assert list(observed_objects([DEPLOYMENT], findings(DEPLOYMENT, live))) == [
        edit(DEPLOYMENT, edits)
    ]
