"""Declared objects of the taxonomy's cases: small, valid, and without surprises."""

from typing import Any

from holdfast.kube.objects import KubeObject

POD = "/spec/template/spec"
CONTAINER = f"{POD}/containers/0"
AGENT = "spec.template.spec.containers[name=agent]"


def container(**fields: Any) -> dict[str, Any]:
    """The container of every workload here."""
    return {
        "name": "agent",
        "image": "registry.example/agents/agent:1.0",
        "args": ["serve", "--port=8080"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "1000m", "memory": "1Gi"},
        },
        "securityContext": {"runAsNonRoot": True, "readOnlyRootFilesystem": True},
        **fields,
    }


def template(pod: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A pod template with one container."""
    return {
        "metadata": {"labels": {"app": "$name"}},
        "spec": {"containers": [container(**fields)], **(pod or {})},
    }


def thing(api_version: str, kind: str, **fields: Any) -> KubeObject:
    """An object of any kind; `metadata` is added to its name and namespace."""
    metadata = {"name": "$name", "namespace": "$namespace", **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def deployment(
    spec: dict[str, Any] | None = None,
    pod: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **fields: Any,
) -> KubeObject:
    """A Deployment without pods, unless `spec` says otherwise; `fields` are its container's."""
    wanted = {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "$name"}},
        "template": template(pod, **fields),
        **(spec or {}),
    }
    wanted = {key: value for key, value in wanted.items() if value is not None}
    return thing("apps/v1", "Deployment", metadata=metadata or {}, spec=wanted)


def stateful_set(**spec: Any) -> KubeObject:
    """A StatefulSet with a claim template and no pods."""
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    return thing(
        "apps/v1",
        "StatefulSet",
        spec={
            "replicas": 0,
            "serviceName": "none",
            "selector": {"matchLabels": {"app": "$name"}},
            "template": template(),
            "volumeClaimTemplates": [claim],
            **spec,
        },
    )


def config_map(data: dict[str, str] | None = None, **fields: Any) -> KubeObject:
    """A ConfigMap."""
    return thing("v1", "ConfigMap", data={"key": "one\n"} if data is None else data, **fields)


def secret(**fields: Any) -> KubeObject:
    """An opaque Secret; its value is that of `HIDDEN`."""
    return thing("v1", "Secret", type="Opaque", **{"data": {"token": "aHVudGVyMg=="}, **fields})


HIDDEN = ("hunter2", "aHVudGVyMg==", "c3dvcmRmaXNo", "swordfish")
"""Secret values of the cases, plain and encoded: no report may hold one."""


def service(metadata: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    """A Service with one port."""
    port = {"name": "http", "port": 80, "targetPort": 8080}
    wanted = {"selector": {"app": "$name"}, "ports": [port], **spec}
    return thing("v1", "Service", metadata=metadata or {}, spec=wanted)


def autoscaler(api_version: str = "autoscaling/v2", **spec: Any) -> KubeObject:
    """A HorizontalPodAutoscaler of the case's Deployment, up to five."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "$name"}
    wanted = {"scaleTargetRef": target, "maxReplicas": 5, **spec}
    return thing(api_version, "HorizontalPodAutoscaler", spec=wanted)


def metric(name: str, percent: int) -> dict[str, Any]:
    """A resource metric of an autoscaler."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def claim(**fields: Any) -> KubeObject:
    """A claim of the default class."""
    return thing(
        "v1",
        "PersistentVolumeClaim",
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        **fields,
    )


def network_policy(**spec: Any) -> KubeObject:
    """A policy that lets one kind of client in and lets out to one address."""
    client = {"podSelector": {"matchLabels": {"app": "client"}}}
    return thing(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        spec={
            "podSelector": {"matchLabels": {"app": "$name"}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [client]}],
            "egress": [{"to": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]}],
            **spec,
        },
    )


def role(kind: str = "Role", **fields: Any) -> KubeObject:
    """A role with two rules."""
    reading = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
    leading = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]}
    wanted = {"rules": [reading, leading], **fields}
    return thing("rbac.authorization.k8s.io/v1", kind, **wanted)


def role_binding(**fields: Any) -> KubeObject:
    """A binding of a role to an account and a group."""
    group = "rbac.authorization.k8s.io"
    return thing(
        f"{group}/v1",
        "RoleBinding",
        roleRef={"apiGroup": group, "kind": "Role", "name": "$name"},
        subjects=[
            {"kind": "ServiceAccount", "name": "$name", "namespace": "$namespace"},
            {"kind": "Group", "name": "agents"},
        ],
        **fields,
    )
