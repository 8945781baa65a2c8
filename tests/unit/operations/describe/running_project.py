"""A project of an agent and a hosted tool server, and a fake cluster that runs what it declares."""

import copy
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from holdfast.kube.objects import mapping_at

from tests.unit.adapters.cluster.fake_api import FakeApi, page
from tests.unit.operations.declared_project import IMAGE, DeclaredProject, manifest

TOOLS = f"""\
---
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {{name: tools, namespace: loop}}
spec:
  version: 1.0.0
  image: {IMAGE}
  transport: streamable-http
"""
PLURALS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/loop/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/loop/configmaps",
    "Service": "/api/v1/namespaces/loop/services",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/loop/networkpolicies",
    "Deployment": "/apis/apps/v1/namespaces/loop/deployments",
}
_UNUSED = (
    "/api/v1/namespaces/loop/pods",
    "/apis/apps/v1/namespaces/loop/daemonsets",
    "/apis/apps/v1/namespaces/loop/statefulsets",
    "/apis/batch/v1/namespaces/loop/jobs",
    "/apis/batch/v1/namespaces/loop/cronjobs",
    "/apis/networking.k8s.io/v1/namespaces/loop/ingresses",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/loop/roles",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/loop/rolebindings",
)


def write_project(folder: Path) -> DeclaredProject:
    """The files."""
    return DeclaredProject.write(folder, manifest("first"), TOOLS)


def running(project: DeclaredProject) -> dict[tuple[str, str], dict[str, Any]]:
    """Kind and name to an object as the cluster runs it: as declared, and healthy."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for declared in project.context().objects:
        one = copy.deepcopy(dict(declared))
        one["metadata"] = {**one["metadata"], "uid": one["metadata"]["name"], "generation": 1}
        if one["kind"] == "Deployment":
            count = mapping_at(one, "spec").get("replicas", 1)
            names = ("replicas", "updatedReplicas", "availableReplicas", "readyReplicas")
            one["status"] = {
                "observedGeneration": 1,
                **dict.fromkeys(names, count),
                "conditions": [{"type": "Available", "status": "True"}],
            }
        found[(one["kind"], one["metadata"]["name"])] = one
    return found


def serve(api: FakeApi, objects: Iterable[dict[str, Any]]) -> None:
    """Answer lists and reads of these objects."""
    lists: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in objects:
        lists[PLURALS[one["kind"]]].append(one)
    for path in (*PLURALS.values(), *_UNUSED):
        api.on(path, page(*lists[path]))
