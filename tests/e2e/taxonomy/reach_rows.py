"""Rows 49 to 57 and 60 to 63: Services, autoscalers, budgets and network policies."""

from tests.e2e.taxonomy.case import Case, Write, added, changed, patched, put, removed, take
from tests.e2e.taxonomy.objects import (
    autoscaler,
    deployment,
    metric,
    network_policy,
    service,
    thing,
)

_S = "Service"
_H = "HorizontalPodAutoscaler"
_N = "NetworkPolicy"
_B = "PodDisruptionBudget"
_EVERYBODY = {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}


def _budget(**spec: object) -> dict[str, object]:
    selector = {"matchLabels": {"app": "$name"}}
    return thing("policy/v1", _B, spec={"selector": selector, **spec})


SERVICES = (
    Case(
        49,
        "selector changed",
        (service(),),
        (patched(_S, put("/spec/selector/app", "other")),),
        (changed(_S, "spec.selector", "high"),),
    ),
    Case(
        49,
        "target changed",
        (service(),),
        (patched(_S, put("/spec/ports/0/targetPort", 9999)),),
        (changed(_S, "spec.ports[port=80,protocol=TCP].targetPort", "high"),),
    ),
    Case(
        50,
        "port added",
        (service(),),
        (patched(_S, put("/spec/ports/-", {"name": "debug", "port": 6060})),),
        (added(_S, "spec.ports[port=6060,protocol=TCP]"),),
    ),
    Case(
        51,
        "exposed",
        (service(type="ClusterIP"),),
        (patched(_S, put("/spec/type", "NodePort")),),
        (changed(_S, "spec.type", "critical"),),
    ),
    Case(52, "allocated", (service(type="NodePort"),), proof=(_S, ("spec", "clusterIP"), None)),
    Case(
        53,
        "cloud annotation",
        (service(type="LoadBalancer"),),
        (
            patched(
                _S,
                put("/metadata/annotations", {"service.beta.kubernetes.io/aws": "nlb"}),
                manager="cloud-controller-manager",
                user="system:cloud-controller-manager",
            ),
        ),
        proof=(_S, ("metadata", "annotations", "service.beta.kubernetes.io/aws"), "nlb"),
    ),
    Case(
        54,
        "endpoints",
        (deployment({"replicas": 1}), service()),
        proof=("Endpoints", ("metadata", "name"), None),
    ),
)

AUTOSCALERS = (
    Case(
        55,
        "maximum raised",
        (autoscaler(),),
        (Write("merge", _H, {"spec": {"maxReplicas": 50}}),),
        (changed(_H, "spec.maxReplicas"),),
    ),
    Case(
        55,
        "target raised",
        (autoscaler(metrics=[metric("cpu", 50)]),),
        (patched(_H, put("/spec/metrics/0/resource/target/averageUtilization", 95)),),
        (changed(_H, "spec.metrics"),),
    ),
    Case(
        56,
        "metrics reordered",
        (autoscaler(metrics=[metric("cpu", 50), metric("memory", 60)]),),
        (patched(_H, put("/spec/metrics", [metric("memory", 60), metric("cpu", 50)])),),
        proof=(_H, ("spec", "metrics", 0, "resource", "name"), "memory"),
    ),
    Case(
        57,
        "declared in version 1",
        (deployment(), autoscaler("autoscaling/v1", targetCPUUtilizationPercentage=60)),
    ),
    Case(
        62,
        "budget changed",
        (_budget(minAvailable=1),),
        (Write("merge", _B, {"spec": {"minAvailable": "50%"}}),),
        (changed(_B, "spec.minAvailable"),),
    ),
    Case(
        62,
        "budget swapped",
        (_budget(minAvailable=1),),
        (Write("merge", _B, {"spec": {"minAvailable": None, "maxUnavailable": 1}}),),
        (removed(_B, "spec.minAvailable"), added(_B, "spec.maxUnavailable")),
    ),
    Case(
        63,
        "budget status",
        (_budget(minAvailable=1),),
        proof=(_B, ("status", "observedGeneration"), 1),
    ),
)

NETWORKS = (
    Case(
        60,
        "egress opened",
        (network_policy(),),
        (patched(_N, put("/spec/egress/-", _EVERYBODY)),),
        (added(_N, "spec.egress[1]", "critical"),),
    ),
    Case(
        60,
        "ingress rule removed",
        (network_policy(),),
        (patched(_N, take("/spec/ingress/0")),),
        (removed(_N, "spec.ingress", "critical"),),
    ),
    Case(
        60,
        "selector emptied",
        (network_policy(),),
        (patched(_N, put("/spec/podSelector", {})),),
        (removed(_N, "spec.podSelector", "critical"),),
    ),
    Case(
        61,
        "types defaulted",
        (network_policy(policyTypes=None),),
        proof=(_N, ("spec", "policyTypes", 0), "Ingress"),
    ),
)

REACH = (*SERVICES, *AUTOSCALERS, *NETWORKS)
