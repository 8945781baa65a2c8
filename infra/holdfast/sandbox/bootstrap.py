"""The objects that a sandbox starts with: nodes, storage classes, and what alice and bob may do.

Pure: plain objects with the path each is applied to. Applied on every start, always the same.
"""

from dataclasses import dataclass
from typing import Any

from holdfast.kube.rbac import RBAC_GROUP, policy_rule, user_subject
from holdfast.sandbox.paths import USERS
from holdfast.sandbox.programs import SIMULATED

PROVISIONER = "sandbox.holdfast.dev/volume"
"""Played by the stage `claim-provision` of kwok-volumes.yaml."""

NODE_CAPACITY = {"cpu": "256", "memory": "2Ti", "ephemeral-storage": "4Ti", "pods": "2000"}
GPU_CAPACITY = {"nvidia.com/gpu": "8"}
NODE_NAMES = ("node-0", "node-1", "node-2")
"""Each in a zone of its own; the last has the GPUs."""


@dataclass(frozen=True, slots=True)
class BootstrapObject:
    """An object and where it is applied.

    Attributes:
        path: Path of the object at the API server.
        content: The object.
    """

    path: str
    content: dict[str, Any]


def bootstrap_objects(*, has_node: bool = False) -> tuple[BootstrapObject, ...]:
    """Every object of a new sandbox.

    Args:
        has_node: Whether a real node runs beside: the simulated ones then take only pods that
            tolerate their taint.
    """
    return (
        *(_node(name, has_gpu=name == NODE_NAMES[-1], is_tainted=has_node) for name in NODE_NAMES),
        _storage_class("sandbox-now", "Immediate", is_default=True),
        _storage_class("sandbox-late", "WaitForFirstConsumer", is_default=False),
        # Nodes, volumes and classes belong to no namespace; the built-in roles leave them out.
        _cluster_object(
            RBAC_GROUP,
            {
                "kind": "ClusterRole",
                "metadata": {"name": "sandbox-cluster-reader"},
                "rules": [
                    _may_read("", "nodes", "persistentvolumes"),
                    _may_read("storage.k8s.io", "storageclasses"),
                    _may_read("networking.k8s.io", "ingressclasses"),
                    _may_read("scheduling.k8s.io", "priorityclasses"),
                    _may_read("apiextensions.k8s.io", "customresourcedefinitions"),
                ],
            },
        ),
        _binding("sandbox-editors", "edit", "alice"),
        _binding("sandbox-viewers", "view", "bob"),
        _binding("sandbox-cluster-readers", "sandbox-cluster-reader", "alice", "bob"),
    )


def _node(name: str, *, has_gpu: bool, is_tainted: bool) -> BootstrapObject:
    capacity = NODE_CAPACITY | (GPU_CAPACITY if has_gpu else {})
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{name[-1]}",
    }
    labels |= {"nvidia.com/gpu.present": "true"} if has_gpu else {}
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {SIMULATED: "fake"},
        },
        "status": {"capacity": capacity, "allocatable": capacity},
    }
    if is_tainted:
        taint = {"key": SIMULATED, "value": "fake", "effect": "NoSchedule"}
        content["spec"] = {"taints": [taint]}
    return BootstrapObject(f"/api/v1/nodes/{name}", content)


def _storage_class(name: str, binding_mode: str, *, is_default: bool) -> BootstrapObject:
    return _cluster_object(
        "storage.k8s.io",
        {
            "kind": "StorageClass",
            "metadata": {
                "name": name,
                "annotations": {
                    "storageclass.kubernetes.io/is-default-class": str(is_default).lower()
                },
            },
            "provisioner": PROVISIONER,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": binding_mode,
            "allowVolumeExpansion": True,
        },
    )


def _may_read(group: str, *resources: str) -> dict[str, list[str]]:
    return policy_rule(group, resources, ("get", "list", "watch"))


def _binding(name: str, role: str, *users: str) -> BootstrapObject:
    return _cluster_object(
        RBAC_GROUP,
        {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role},
            "subjects": [user_subject(USERS[user]) for user in users],
        },
    )


def _cluster_object(group: str, content: dict[str, Any]) -> BootstrapObject:
    plural = {
        "ClusterRole": "clusterroles",
        "ClusterRoleBinding": "clusterrolebindings",
        "StorageClass": "storageclasses",
    }[content["kind"]]
    path = f"/apis/{group}/v1/{plural}/{content['metadata']['name']}"
    return BootstrapObject(path, {"apiVersion": f"{group}/v1", **content})
