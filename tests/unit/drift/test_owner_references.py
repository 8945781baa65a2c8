"""An owner reference is a claim: it counts where the owner is there and makes such objects."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.drift.finding import DriftReport
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

from tests.unit.drift.objects import DEPLOYMENT, live_of
from tests.unit.drift.test_scan import AROUND, NAMESPACE, found, scan

UID = "11111111-1111-1111-1111-111111111111"
BY_DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "name": "support",
    "uid": UID,
    "controller": True,
}
BY_OPERATOR = {
    "apiVersion": "example.test/v1",
    "kind": "Widget",
    "name": "w",
    "uid": "w-1",
    "controller": True,
}
WIDGET: KubeObject = {
    "apiVersion": "example.test/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "cx", "uid": "w-1"},
}


def extra(api_version: str, kind: str, *owners: dict[str, Any], **more: Any) -> KubeObject:
    metadata: dict[str, Any] = {"name": "extra", "namespace": "cx", "uid": "e-1"}
    metadata |= more.pop("metadata", {})
    if owners:
        metadata["ownerReferences"] = list(owners)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def report_of(*others: KubeObject) -> DriftReport:
    live = [live_of(NAMESPACE), live_of(DEPLOYMENT), *others]
    return scan([NAMESPACE, DEPLOYMENT], live, is_whole=True)


@pytest.mark.parametrize(
    ("made", "is_found"),
    [
        pytest.param(extra("apps/v1", "ReplicaSet", BY_DEPLOYMENT), False, id="what it makes"),
        pytest.param(
            extra("apps/v1", "ReplicaSet", BY_DEPLOYMENT | {"uid": "other"}), True, id="other uid"
        ),
        pytest.param(
            extra("apps/v1", "ReplicaSet", BY_DEPLOYMENT | {"controller": False}),
            True,
            id="not its controller",
        ),
        pytest.param(
            extra("apps/v1", "ReplicaSet", BY_DEPLOYMENT | {"name": "gone"}), True, id="no owner"
        ),
        pytest.param(extra("apps/v1", "ReplicaSet"), True, id="by hand"),
        pytest.param(
            extra("rbac.authorization.k8s.io/v1", "RoleBinding", BY_DEPLOYMENT),
            True,
            id="a kind that its owner does not make",
        ),
        pytest.param(
            extra(
                "v1",
                "Pod",
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "kube-root-ca.crt",
                    "uid": "c",
                    "controller": True,
                },
            ),
            True,
            id="an owner that makes nothing",
        ),
        pytest.param(
            extra("batch/v1", "Job", BY_OPERATOR), True, id="of a custom resource made by hand"
        ),
        pytest.param(
            extra("batch/v1", "Job", BY_OPERATOR | {"name": "absent"}),
            True,
            id="of a custom resource that is not there",
        ),
        pytest.param(extra("v1", "Endpoints"), True, id="Endpoints without a Service"),
        pytest.param(
            extra("discovery.k8s.io/v1", "EndpointSlice"), True, id="EndpointSlice by hand"
        ),
        pytest.param(
            extra("v1", "Secret", type="kubernetes.io/service-account-token"),
            True,
            id="a credential that never ends",
        ),
        pytest.param(extra("v1", "Secret", type="Opaque"), False, id="a kind nobody declares"),
        pytest.param(extra("autoscaling/v2", "HorizontalPodAutoscaler"), True, id="an autoscaler"),
        pytest.param(extra("policy/v1", "PodDisruptionBudget"), True, id="a budget"),
        pytest.param(extra("networking.k8s.io/v1", "NetworkPolicy"), True, id="a network rule"),
        pytest.param(
            extra(
                "apps/v1",
                "Deployment",
                metadata={
                    "labels": {
                        "app.kubernetes.io/managed-by": "holdfast",
                        "app.kubernetes.io/instance": "nosuchstack",
                    }
                },
            ),
            True,
            id="the label of a stack that is not there",
        ),
    ],
)
def test_only_a_proved_owner_accounts_for_an_object(made: KubeObject, is_found: bool) -> None:
    expected = [("unmanaged", f"{made['kind']} cx/extra")] if is_found else []
    live = [made] if made["kind"] in {"Deployment", "ReplicaSet"} else [made, WIDGET]
    assert found(report_of(*live)) == expected


OTHERS_WIDGET = {
    **WIDGET,
    "metadata": {
        **WIDGET["metadata"],
        "ownerReferences": [
            BY_OPERATOR | {"kind": "Factory", "name": "f", "uid": "f-1"},
        ],
    },
}
FACTORY: KubeObject = {
    "apiVersion": "example.test/v1",
    "kind": "Factory",
    "metadata": {"name": "f", "namespace": "cx", "uid": "f-1"},
}
JOB = extra("batch/v1", "Job", BY_OPERATOR)


@pytest.mark.parametrize(
    ("declared", "live", "is_found"),
    [
        pytest.param([WIDGET], [WIDGET], False, id="the owner is declared"),
        pytest.param([FACTORY], [FACTORY, OTHERS_WIDGET], False, id="the owner's owner is"),
        pytest.param([], [FACTORY, OTHERS_WIDGET], True, id="none of them is"),
    ],
)
def test_an_owner_is_itself_accounted_for(
    declared: list[KubeObject], live: list[KubeObject], is_found: bool
) -> None:
    report = scan([NAMESPACE, *declared], [live_of(NAMESPACE), *live, JOB], is_whole=True)
    assert (("unmanaged", "Job cx/extra") in found(report)) is is_found


@pytest.mark.parametrize(
    ("owner", "is_found"),
    [(WIDGET, True), (OTHERS_WIDGET, False), (None, True)],
    ids=["made by hand", "accounted for", "not there"],
)
def test_an_owner_that_was_not_read_is_asked_for(owner: KubeObject | None, is_found: bool) -> None:
    def find(ref: ObjectRef) -> KubeObject | None:
        return {"Widget": owner, "Factory": FACTORY}.get(ref.kind)

    declared = [NAMESPACE, FACTORY]
    live = {reference_of(one).identity: one for one in (live_of(NAMESPACE), FACTORY, JOB)}
    state = LiveState(live, watched=frozenset({("batch", "Job")}))
    report = DriftJudge(declared, replace(AROUND, find_owner=find)).report(state)
    assert (("unmanaged", "Job cx/extra") in found(report)) is is_found


def test_the_endpoints_of_a_service_are_its_controllers() -> None:
    service: KubeObject = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "extra", "namespace": "cx", "uid": "s-1"},
    }
    desired = [NAMESPACE, service]
    live = [live_of(NAMESPACE), service, extra("v1", "Endpoints")]
    assert found(scan(desired, live, is_whole=True)) == []


def test_an_owner_of_a_kind_that_was_not_read_may_exist() -> None:
    job = extra("batch/v1", "Job", BY_OPERATOR)
    live = [live_of(NAMESPACE), live_of(DEPLOYMENT), job]
    watched = frozenset({("batch", "Job")})
    assert found(scan([NAMESPACE, DEPLOYMENT], live, watched=watched)) == []
