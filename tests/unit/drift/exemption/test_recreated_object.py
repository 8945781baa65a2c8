from typing import Any

from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.object_drift import object_findings
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import format_path

DESIRED: KubeObject = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "support", "namespace": "cx"},
    "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "selector": {"app": "support"}},
}


def live(uid: str, address: str, **spec: Any) -> KubeObject:
    metadata = DESIRED["metadata"] | {"uid": uid}
    allocated = {"clusterIP": address, "clusterIPs": [address], "type": "ClusterIP"}
    return DESIRED | {"metadata": metadata, "spec": DESIRED["spec"] | allocated | spec}


def findings(before: KubeObject, now: KubeObject) -> list[tuple[str, str]]:
    ref = reference_of(DESIRED)
    context = DriftContext(autoscalers=Autoscalers([]), baseline={ref.identity: before})
    found = object_findings(ref, DESIRED, now, context)
    return [(each.drift_class.value, format_path(each.path)) for each in found]


def test_an_object_recreated_is_noted_and_its_new_address_is_no_drift() -> None:
    assert findings(live("1", "10.0.0.1"), live("2", "10.0.0.2")) == [("recreated", "")]


def test_the_same_object_with_another_address_has_drifted() -> None:
    found = findings(live("1", "10.0.0.1"), live("1", "10.0.0.2"))
    assert ("changed", "spec.clusterIP") in found
