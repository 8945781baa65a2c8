"""Why the pods of a workload are not ready, from its pods and their Warning Events."""

from collections.abc import Mapping
from typing import Any

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.kube.pod_waits import PodWait, pod_waits

_WARNINGS = "type=Warning,involvedObject.kind=Pod"


class PodReader:
    """Reads pods of workloads; the Events of a namespace are read once."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._warnings: dict[str, list[KubeObject]] = {}

    def waits(self, workload: Mapping[str, Any]) -> list[PodWait]:
        """What the pods of a workload wait for, the newest pods first.

        Raises:
            ClusterError: pods or Events may not be listed, or the cluster cannot be asked.
        """
        labels = mapping_at(workload, "spec", "selector", "matchLabels")
        if not labels:
            return []
        namespace = str(mapping_at(workload, "metadata").get("namespace") or "")
        selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
        pods = list_whole(self._client, "v1", "pods", namespace, selector)
        if not pods:
            return []
        pods.sort(key=_created_at, reverse=True)
        warnings = self._warnings_in(namespace)
        return [each for pod in pods for each in pod_waits(pod, warnings)]

    def _warnings_in(self, namespace: str) -> list[KubeObject]:
        if namespace not in self._warnings:
            self._warnings[namespace] = list_whole(
                self._client, "v1", "events", namespace, fields=_WARNINGS
            )
        return self._warnings[namespace]


def _created_at(pod: KubeObject) -> str:
    return str(mapping_at(pod, "metadata").get("creationTimestamp") or "")
