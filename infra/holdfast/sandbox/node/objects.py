"""What a cluster with a real node has besides: DNS, and a way for pods to the API server.

Pure: plain objects with the path each is applied to. CoreDNS runs in an image that holds no
program: its own comes from the node's folder, so that no image has to be imported at each start.
"""

from typing import Any

from holdfast.kube.rbac import RBAC_GROUP, policy_rule
from holdfast.sandbox.bootstrap import BootstrapObject
from holdfast.sandbox.node.settings import (
    CLUSTER_DOMAIN,
    DNS_ADDRESS,
    NODE_ADDRESS,
    NODE_NAME,
    PAUSE_IMAGE,
    NodeSettings,
)

DNS_DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"
_SYSTEM = "/api/v1/namespaces/kube-system"
_LABELS = {"k8s-app": "kube-dns"}
_COREFILE = f"""\
.:53 {{
  errors
  health :8080
  ready :8181
  kubernetes {CLUSTER_DOMAIN} in-addr.arpa {{
    pods insecure
    fallthrough in-addr.arpa
  }}
  cache 5
}}
"""


def node_objects(settings: NodeSettings) -> tuple[BootstrapObject, ...]:
    """Every object besides the node itself, which the kubelet registers."""
    dns = {"name": "coredns", "namespace": "kube-system"}
    role = {"name": "sandbox-coredns"}
    rules = [
        policy_rule("", ("services", "pods", "namespaces"), ("list", "watch")),
        policy_rule("discovery.k8s.io", ("endpointslices",), ("list", "watch")),
    ]
    return (
        _object(f"{_SYSTEM}/serviceaccounts/coredns", "v1", "ServiceAccount", dns),
        _object(
            f"/apis/{RBAC_GROUP}/v1/clusterroles/{role['name']}",
            f"{RBAC_GROUP}/v1",
            "ClusterRole",
            role,
            rules=rules,
        ),
        _object(
            f"/apis/{RBAC_GROUP}/v1/clusterrolebindings/{role['name']}",
            f"{RBAC_GROUP}/v1",
            "ClusterRoleBinding",
            role,
            roleRef={"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role["name"]},
            subjects=[{"kind": "ServiceAccount", **dns}],
        ),
        _object(
            f"{_SYSTEM}/configmaps/coredns", "v1", "ConfigMap", dns, data={"Corefile": _COREFILE}
        ),
        _object(
            DNS_DEPLOYMENT,
            "apps/v1",
            "Deployment",
            dns | {"labels": _LABELS},
            spec={
                "selector": {"matchLabels": _LABELS},
                "template": {"metadata": {"labels": _LABELS}, "spec": _dns_pod(settings)},
            },
        ),
        _object(
            f"{_SYSTEM}/services/kube-dns",
            "v1",
            "Service",
            {"name": "kube-dns", "namespace": "kube-system"},
            spec={
                "clusterIP": DNS_ADDRESS,
                "selector": _LABELS,
                "ports": [
                    {"name": "dns", "port": 53, "protocol": "UDP"},
                    {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
                ],
            },
        ),
        # The API server listens on loopback, which is no valid endpoint: it publishes none.
        _object(
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
            "discovery.k8s.io/v1",
            "EndpointSlice",
            {
                "name": "kubernetes",
                "namespace": "default",
                "labels": {"kubernetes.io/service-name": "kubernetes"},
            },
            addressType="IPv4",
            ports=[{"name": "https", "port": settings.api_port, "protocol": "TCP"}],
            endpoints=[{"addresses": [NODE_ADDRESS], "conditions": {"ready": True}}],
        ),
    )


def _dns_pod(settings: NodeSettings) -> dict[str, Any]:
    container = {
        "name": "coredns",
        "image": PAUSE_IMAGE,
        "command": ["/programs/coredns", "-conf", "/etc/coredns/Corefile"],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "volumeMounts": [
            {"name": "configuration", "mountPath": "/etc/coredns", "readOnly": True},
            {"name": "programs", "mountPath": "/programs", "readOnly": True},
        ],
    }
    return {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "nodeSelector": {"kubernetes.io/hostname": NODE_NAME},
        "priorityClassName": "system-cluster-critical",
        "containers": [container],
        "volumes": [
            {"name": "configuration", "configMap": {"name": "coredns"}},
            {"name": "programs", "hostPath": {"path": settings.programs, "type": "Directory"}},
        ],
    }


def _object(
    path: str, api_version: str, kind: str, metadata: dict[str, Any], **content: object
) -> BootstrapObject:
    return BootstrapObject(
        path, {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
    )
