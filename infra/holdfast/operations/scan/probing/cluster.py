"""What probes ask an API server: pods, nodes, workloads with their status, contents."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.content import Content, ContentKey, read_content
from holdfast.adapters.cluster.json_answers import list_whole, read_whole
from holdfast.drift.probes.answers import CARD_PATH
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.manifest.types.agent_label import AGENT_LABEL


@dataclass(frozen=True)
class ProbedCluster:
    """Reads each kind once, however many probes ask for it; a failure is told to all of them."""

    client: ApiClient
    _read: dict[tuple[str, str], list[KubeObject] | ClusterError] = field(default_factory=dict)
    _contents: dict[ContentKey, Content | ClusterError | None] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def pods(self, namespace: str) -> list[KubeObject]:
        """Pods of agents in a namespace."""
        return self._once("v1", "pods", namespace, AGENT_LABEL)

    def nodes(self) -> list[KubeObject]:
        """Every node."""
        return self._once("v1", "nodes")

    def runtime_classes(self) -> list[KubeObject]:
        """Every RuntimeClass."""
        return self._once("node.k8s.io/v1", "runtimeclasses")

    def workload(self, ref: ObjectRef, plural: str) -> KubeObject | None:
        """One workload; None when there is none."""
        listed = self._once(ref.api_version, plural, ref.namespace)
        named = (one for one in listed if mapping_at(one, "metadata").get("name") == ref.name)
        return next(named, None)

    def content(self, key: ContentKey) -> Content | None:
        """What is known of a Secret or ConfigMap; None when there is none."""
        with self._lock:
            if key not in self._contents:
                try:
                    self._contents[key] = read_content(self.client, key)
                except ClusterError as error:
                    self._contents[key] = error
            found = self._contents[key]
        if isinstance(found, ClusterError):
            raise found
        return found

    def agent_card(self, namespace: str, service: str, port: str) -> dict[str, Any]:
        """The card that an agent serves at a port of its Service, through the API server."""
        path = f"/api/v1/namespaces/{namespace}/services/{service}:{port}/proxy{CARD_PATH}"
        return read_whole(self.client, path)

    def _once(
        self, api_version: str, plural: str, namespace: str = "", selector: str = ""
    ) -> list[KubeObject]:
        key = (plural, namespace)
        with self._lock:
            if key not in self._read:
                try:
                    read = list_whole(self.client, api_version, plural, namespace, selector)
                except ClusterError as error:
                    self._read[key] = error
                else:
                    self._read[key] = read
            found = self._read[key]
        if isinstance(found, ClusterError):
            raise found
        return found
