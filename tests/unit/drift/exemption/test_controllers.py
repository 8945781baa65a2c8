"""What other controllers change by right."""

from typing import Any

import pytest
from holdfast.drift.exemption.controllers import POD_HASH, Autoscalers, ReplicaRange, Rollouts
from holdfast.drift.finding import Severity
from holdfast.kube.objects import KubeObject, ObjectRef

from tests.unit.drift.objects import DEPLOYMENT, drift, findings, live_of, owned_by


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


def test_a_declared_autoscaler_gives_its_workload_a_range_and_no_other() -> None:
    declared = Autoscalers([autoscaler("held", 1, 3)])
    assert declared.range_of(deployment("held")) == ReplicaRange(1, 3)
    assert declared.range_of(deployment("old")) is None


SERVICE: KubeObject = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "support", "namespace": "cx"},
    "spec": {"selector": {"app": "support"}, "ports": [{"port": 80}]},
}
ROUTE: KubeObject = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "support", "namespace": "cx"},
    "spec": {
        "rules": [
            {
                "backendRefs": [
                    {"name": "support", "port": 80, "weight": 100},
                    {"name": "support-canary", "port": 80, "weight": 0},
                ]
            }
        ]
    },
}


def rollout(strategy: dict[str, Any], namespace: str = "cx") -> KubeObject:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "support", "namespace": namespace},
        "spec": {"strategy": strategy},
    }


BLUE_GREEN = rollout({"blueGreen": {"activeService": "support"}})
PLUGIN = {"plugins": {"argoproj-labs/gatewayAPI": {"httpRoute": "support"}}}
CANARY = rollout({"canary": {"stableService": "support", "trafficRouting": PLUGIN}})


def moved(path: str, value: object, declared: KubeObject, one: KubeObject = SERVICE) -> Any:
    live = live_of(one, {path: value})
    if "[" not in path:
        live = owned_by("rollouts-controller", path, live)
    return drift(one, live, rollouts=Rollouts([declared]))


@pytest.mark.parametrize(
    "declared", [pytest.param(BLUE_GREEN, id="blue-green"), pytest.param(CANARY, id="canary")]
)
def test_a_declared_rollout_may_lead_its_service_to_one_version(declared: KubeObject) -> None:
    assert moved(f"spec.selector.{POD_HASH}", "6d8f7c9b4d", declared) == []


@pytest.mark.parametrize(
    ("path", "value", "declared"),
    [
        pytest.param("spec.selector.app", "other", BLUE_GREEN, id="another selector"),
        pytest.param(f"spec.selector.{POD_HASH}", "x;y", BLUE_GREEN, id="no version"),
        pytest.param(
            f"spec.selector.{POD_HASH}",
            "6d8f7c9b4d",
            rollout({"blueGreen": {"activeService": "other"}}),
            id="service of another rollout",
        ),
        pytest.param(
            f"spec.selector.{POD_HASH}",
            "6d8f7c9b4d",
            rollout({"blueGreen": {"activeService": "support"}}, "other"),
            id="rollout of another namespace",
        ),
    ],
)
def test_anything_else_in_a_selector_is_drift(
    path: str, value: object, declared: KubeObject
) -> None:
    assert len(moved(path, value, declared)) == 1


def test_a_declared_rollout_may_weigh_the_backends_of_its_route() -> None:
    weight = "spec.rules[0].backendRefs[1].weight"
    assert moved(weight, 30, CANARY, ROUTE) == []
    assert len(moved(weight, 300, CANARY, ROUTE)) == 1
    assert len(moved(weight, 30, BLUE_GREEN, ROUTE)) == 1
    assert len(moved("spec.rules[0].backendRefs[1].name", "evil", CANARY, ROUTE)) == 1


def restarted(moment: str) -> list[Any]:
    declared = BLUE_GREEN | {"spec": {**BLUE_GREEN["spec"], "restartAt": "1985-01-02T03:04:05Z"}}
    live = owned_by(
        "kubectl-argo-rollouts", "spec.restartAt", live_of(declared, {"spec.restartAt": moment})
    )
    return findings(declared, live, rollouts=Rollouts([declared]))


def test_a_restart_manually_is_a_remark_as_with_a_deployment() -> None:
    [found] = restarted("2026-11-22T01:02:03Z")
    assert (found.severity, found.drift_class.value) == (Severity.INFO, "changed")
    [found] = restarted("tomorrow")
    assert found.severity is not Severity.INFO


def scaled_object(**spec: Any) -> KubeObject:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "support", "namespace": "cx"},
        "spec": {"scaleTargetRef": {"name": "support"}, **spec},
    }


@pytest.mark.parametrize(
    ("replicas", "spec", "is_drift"),
    [
        pytest.param(0, {"minReplicaCount": 2, "idleReplicaCount": 0}, False, id="idle"),
        pytest.param(0, {"minReplicaCount": 2}, True, id="below the minimum"),
        pytest.param(0, {}, False, id="absent minimum is none"),
        pytest.param(5, {"maxReplicaCount": 5}, False, id="at the maximum"),
        pytest.param(6, {"maxReplicaCount": 5}, True, id="above the maximum"),
    ],
)
def test_keda_may_choose_within_its_range(
    replicas: int, spec: dict[str, Any], is_drift: bool
) -> None:
    live = live_of(DEPLOYMENT, {"spec.replicas": replicas})
    live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].pop("f:replicas", None)
    live = owned_by("keda", "spec.replicas", live, subresource="scale")
    found = drift(DEPLOYMENT, live, autoscalers=Autoscalers([scaled_object(**spec)]))
    assert bool(found) is is_drift
