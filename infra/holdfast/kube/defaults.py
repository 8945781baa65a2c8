"""What the API server fills in where a declaration says nothing, for the built-in types.

A default is a value, or a function of the struct that lacks the field. `ALLOCATED` marks fields to
which the server gives a value of its own choice. A field that is not listed has no default: absent
is what an undeclared one should be. Custom resources bring their defaults in their definition.

Source: `zz_generated.defaults.go` and `defaults.go` of k8s.io/kubernetes/pkg/apis/*, 1.36.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from holdfast.kube.objects import mapping_at
from holdfast.kube.paths import ABSENT, Path
from holdfast.kube.structure import Default

Struct = Mapping[str, Any]

CONFIG_FILE_MODE = 0o644
"""Mode of projected files, in JSON the number 420."""


class _Allocated:
    def __repr__(self) -> str:
        return "ALLOCATED"


ALLOCATED: Final = _Allocated()
"""The server chooses the value: an address, a port, a volume."""

_ADDRESS: Final = re.compile(r"[0-9]+(\.[0-9]+){3}|[0-9a-f]*:[0-9a-f:.]+")
_ALLOCATIONS: Final[Mapping[str, re.Pattern[str]]] = {
    "clusterIP": _ADDRESS,
    "ipFamilies": re.compile("IPv4|IPv6"),
    "ipFamilyPolicy": re.compile("SingleStack|RequireDualStack"),
}
"""Field to what the server may choose; of other fields, anything."""
_PROVED_OTHERWISE: Final = frozenset({"volumeName", "secrets", "selector"})
"""Fields whose value alone proves nothing: a binding, credentials, the pods of a Job."""


def may_be_allocated(path: Path, value: Any, live: Struct) -> bool:  # noqa: ANN401  (any JSON)
    """Whether the server would choose a value: `None` is no address, but a headless Service.

    Args:
        path: Of a field that the server allocates.
        value: What stands there.
        live: The whole object: the first of several addresses is the single one.
    """
    if path[-1] in _PROVED_OTHERWISE:
        return False
    if path[-1] == "clusterIPs":
        return isinstance(value, list) and value[:1] == [mapping_at(live, "spec").get("clusterIP")]
    pattern = _ALLOCATIONS.get(str(path[-1]))
    values = value if isinstance(value, list) else [value]
    return pattern is None or all(pattern.fullmatch(str(each)) for each in values)


def _pull_policy(container: Struct) -> str:
    image = str(container.get("image") or "")
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if not digest and tag in {"", "latest"} else "IfNotPresent"


def _policy_types(spec: Struct) -> list[str]:
    return ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _deployment_strategy(strategy: Struct) -> Any:  # noqa: ANN401  (a default is any JSON value)
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return ABSENT
    return {"maxSurge": "25%", "maxUnavailable": "25%"}


def _rolling(**values: Any) -> Default:  # noqa: ANN401  (a default is any JSON value)
    def default(strategy: Struct) -> Any:  # noqa: ANN401  (as above)
        rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
        return dict(values) if rolling else ABSENT

    return default


def _has_ports_outside(service: Struct) -> bool:
    return service.get("type") in ("NodePort", "LoadBalancer") or bool(service.get("externalIPs"))


def _subject_group(subject: Struct) -> str:
    return "" if subject.get("kind") == "ServiceAccount" else "rbac.authorization.k8s.io"


def _is_of_containers(limit: Struct) -> bool:
    return limit.get("type") == "Container"


def _completions(spec: Struct) -> Any:  # noqa: ANN401  (a default is any JSON value)
    return 1 if spec.get("parallelism", 1) == 1 else ABSENT


def _volume_source(volume: Struct) -> Any:  # noqa: ANN401  (a default is any JSON value)
    return {} if set(volume) <= {"name", "emptyDir"} else ABSENT


_HANDLER_PROBE: Struct = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_CONTAINER: Struct = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": _pull_policy,
    "resources": {},
}
_SCALE_UP: Struct = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Struct = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}
_WEBHOOK: Struct = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}

POD_DEFAULTS: Final[dict[str, Struct]] = {
    "core.v1.PodSpec": {
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {},
    },
    "core.v1.Container": _CONTAINER,
    "core.v1.EphemeralContainer": _CONTAINER,
    "core.v1.ContainerPort": {"protocol": "TCP"},
    "core.v1.Probe": _HANDLER_PROBE,
    "core.v1.HTTPGetAction": {"scheme": "HTTP", "path": "/"},
    "core.v1.GRPCAction": {"service": ""},
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.ResourceFieldSelector": {"divisor": "0"},
    "core.v1.Volume": {"emptyDir": _volume_source},
    "core.v1.ConfigMapVolumeSource": {"defaultMode": CONFIG_FILE_MODE},
    "core.v1.SecretVolumeSource": {"defaultMode": CONFIG_FILE_MODE},
    "core.v1.DownwardAPIVolumeSource": {"defaultMode": CONFIG_FILE_MODE},
    "core.v1.ProjectedVolumeSource": {"defaultMode": CONFIG_FILE_MODE},
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core.v1.HostPathVolumeSource": {"type": ""},
    "core.v1.ImageVolumeSource": {
        "pullPolicy": lambda volume: _pull_policy({"image": volume.get("reference")})
    },
    "core.v1.ISCSIVolumeSource": {"iscsiInterface": "default"},
    "core.v1.RBDVolumeSource": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "core.v1.AzureDiskVolumeSource": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "kind": "Shared",
        "readOnly": False,
    },
}

WORKLOAD_DEFAULTS: Final[dict[str, Struct]] = {
    "apps.v1.DeploymentSpec": {
        "replicas": 1,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": _deployment_strategy({})},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "apps.v1.DeploymentStrategy": {
        "type": "RollingUpdate",
        "rollingUpdate": _deployment_strategy,
    },
    "apps.v1.RollingUpdateDeployment": {"maxSurge": "25%", "maxUnavailable": "25%"},
    "apps.v1.ReplicaSetSpec": {"replicas": 1},
    "apps.v1.StatefulSetSpec": {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    "apps.v1.StatefulSetUpdateStrategy": {
        "type": "RollingUpdate",
        "rollingUpdate": _rolling(partition=0),
    },
    "apps.v1.RollingUpdateStatefulSetStrategy": {"partition": 0},
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    },
    "apps.v1.DaemonSetSpec": {
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
        },
        "revisionHistoryLimit": 10,
    },
    "apps.v1.DaemonSetUpdateStrategy": {
        "type": "RollingUpdate",
        "rollingUpdate": _rolling(maxUnavailable=1, maxSurge=0),
    },
    "apps.v1.RollingUpdateDaemonSet": {"maxUnavailable": 1, "maxSurge": 0},
    "batch.v1.CronJobSpec": {
        "suspend": False,
        "concurrencyPolicy": "Allow",
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "batch.v1.JobSpec": {
        "suspend": False,
        "parallelism": 1,
        "completions": _completions,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "podReplacementPolicy": lambda spec: (
            "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
        ),
        "manualSelector": False,
        "selector": ALLOCATED,
    },
    "autoscaling.v1.HorizontalPodAutoscalerSpec": {
        "minReplicas": 1,
        "targetCPUUtilizationPercentage": 80,
    },
    "autoscaling.v2.HorizontalPodAutoscalerSpec": {
        "minReplicas": 1,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 80},
                },
            }
        ],
    },
    "autoscaling.v2.ScaleUp": _SCALE_UP,
    "autoscaling.v2.ScaleDown": _SCALE_DOWN,
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": {
        "scaleUp": _SCALE_UP,
        "scaleDown": _SCALE_DOWN,
    },
}

NETWORK_DEFAULTS: Final[dict[str, Struct]] = {
    "core.v1.ServiceSpec": {
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "sessionAffinityConfig": lambda spec: (
            {"clientIP": {"timeoutSeconds": 10800}}
            if spec.get("sessionAffinity") == "ClientIP"
            else ABSENT
        ),
        "internalTrafficPolicy": "Cluster",
        "externalTrafficPolicy": lambda spec: "Cluster" if _has_ports_outside(spec) else ABSENT,
        "allocateLoadBalancerNodePorts": lambda spec: (
            True if spec.get("type") == "LoadBalancer" else ABSENT
        ),
        "clusterIP": ALLOCATED,
        "clusterIPs": ALLOCATED,
        "ipFamilies": ALLOCATED,
        "ipFamilyPolicy": ALLOCATED,
        "healthCheckNodePort": ALLOCATED,
    },
    "core.v1.ServicePort": {
        "protocol": "TCP",
        "targetPort": lambda port: port.get("port", ABSENT),
        "nodePort": ALLOCATED,
    },
    "networking.v1.NetworkPolicySpec": {"policyTypes": _policy_types},
    "networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "networking.v1.IngressClassParametersReference": {"scope": "Cluster"},
    "discovery.v1.EndpointPort": {"protocol": "TCP", "name": ""},
}

OTHER_DEFAULTS: Final[dict[str, Struct]] = {
    "core.v1.LimitRangeItem": {
        "default": lambda item: item.get("max", ABSENT) if _is_of_containers(item) else ABSENT,
        "defaultRequest": lambda item: (
            dict(
                entry
                for limit in ("min", "max", "default")
                for entry in mapping_at(item, limit).items()
            )
            if _is_of_containers(item)
            else ABSENT
        ),
    },
    "core.v1.PersistentVolumeClaimSpec": {
        "volumeMode": "Filesystem",
        "volumeName": ALLOCATED,
        "storageClassName": ALLOCATED,
    },
    "core.v1.PersistentVolumeClaim": {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
    "core.v1.PersistentVolumeSpec": {
        "volumeMode": "Filesystem",
        "persistentVolumeReclaimPolicy": "Retain",
    },
    "core.v1.Secret": {"type": "Opaque"},
    "core.v1.ServiceAccount": {"secrets": ALLOCATED},
    "core.v1.NamespaceSpec": {"finalizers": ["kubernetes"]},
    "rbac.v1.RoleRef": {"apiGroup": "rbac.authorization.k8s.io"},
    "rbac.v1.Subject": {"apiGroup": _subject_group},
    "storage.v1.StorageClass": {
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    },
    "scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "apiextensions.v1.CustomResourceDefinitionSpec": {"conversion": {"strategy": "None"}},
    "apiextensions.v1.CustomResourceDefinitionNames": {
        "singular": lambda names: str(names.get("kind") or "").lower(),
        "listKind": lambda names: f"{names.get('kind') or ''}List",
    },
    "apiextensions.v1.ServiceReference": {"port": 443},
    "admissionregistration.v1.ServiceReference": {"port": 443},
    "admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
    "admissionregistration.v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.MatchResources": {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
    },
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
}


def _device_count(request: Struct) -> Any:  # noqa: ANN401  (a default is any JSON value)
    return 1 if request.get("allocationMode", "ExactCount") == "ExactCount" else ABSENT


def _template_labels(spec: Struct) -> Any:  # noqa: ANN401  (a default is any JSON value)
    return mapping_at(spec, "template", "metadata", "labels") or ABSENT


_DEVICE_REQUEST: Struct = {"allocationMode": "ExactCount", "count": _device_count}

RARER_DEFAULTS: Final[dict[str, Struct]] = {
    "core.v1.ReplicationControllerSpec": {"replicas": 1, "selector": _template_labels},
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "core.v1.ISCSIPersistentVolumeSource": {"iscsiInterface": "default"},
    "core.v1.RBDPersistentVolumeSource": {
        "pool": "rbd",
        "user": "admin",
        "keyring": "/etc/ceph/keyring",
    },
    "core.v1.ScaleIOVolumeSource": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "core.v1.ScaleIOPersistentVolumeSource": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "storage.v1.CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
        "requiresRepublish": False,
        "seLinuxMount": False,
        "preventPodSchedulingIfMissing": False,
    },
    "resource.v1.ExactDeviceRequest": _DEVICE_REQUEST,
    "resource.v1.DeviceSubRequest": _DEVICE_REQUEST,
    "resource.v1.DeviceTaint": {"timeAdded": ALLOCATED},
    "flowcontrol.v1.FlowSchemaSpec": {"matchingPrecedence": 1000},
    "flowcontrol.v1.ExemptPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
    },
    "flowcontrol.v1.LimitedPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 30,
        "lendablePercent": 0,
    },
    "flowcontrol.v1.QueuingConfiguration": {"handSize": 8, "queues": 64, "queueLengthLimit": 50},
}
"""Devices, storage drivers, priority levels and the older workloads."""

BUILTIN_DEFAULTS: Final[dict[str, Struct]] = {
    **POD_DEFAULTS,
    **WORKLOAD_DEFAULTS,
    **NETWORK_DEFAULTS,
    **OTHER_DEFAULTS,
    **RARER_DEFAULTS,
}
