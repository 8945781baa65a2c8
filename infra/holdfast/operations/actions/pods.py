"""The pods of an agent made anew one after another, waiting until it is healthy. Wiring."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, path_of
from holdfast.adapters.cluster.whole_objects import list_whole
from holdfast.errors import HoldfastError
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext

HEALTHY_SECONDS = 300.0
"""How long an agent may take to be healthy again after one pod has gone."""

LOOK_SECONDS = 1.0
_REQUEST_TIMEOUT_SECONDS = 60.0
_TOO_MANY = 429
_SERVING = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "Sandbox"})


@dataclass(frozen=True)
class AgentPods:
    """The pods that serve for one agent of a stack; not those of jobs beside it."""

    root: Path
    stack: str
    agent: str
    cluster: ClusterSource

    @classmethod
    def of(cls, root: Path, stack: str, agent: str) -> "AgentPods":
        """Find the cluster; nothing is sent yet."""
        state = StackContext(root, stack)
        cluster = ClusterSource.connect(
            state.kubeconfig, state.kube_context, _REQUEST_TIMEOUT_SECONDS
        )
        return cls(root, stack, agent, cluster)

    def find(self, namespace: str, node: str = "") -> list[KubeObject]:
        """Pods that are there now, by name; on one node only, if it is named."""
        selector = (
            f"holdfast.dev/agent={self.agent},app.kubernetes.io/instance="
            f"{self.stack.rpartition('/')[2]}"
        )
        pods = list_whole(self.cluster.client, "v1", "pods", namespace, selector)
        serving = [
            pod
            for pod in pods
            if any(
                each.get("kind") in _SERVING for each in pod["metadata"].get("ownerReferences", ())
            )
            and (not node or mapping_at(pod, "spec").get("nodeName") == node)
        ]
        return sorted(serving, key=lambda pod: str(pod["metadata"]["name"]))

    def replace(self, pods: Sequence[KubeObject]) -> None:
        """Evict each pod, and wait until the agent is healthy before the next.

        Raises:
            HoldfastError: it does not become healthy in time, or a budget lets no pod go.
        """
        for pod in pods:
            name = str(pod["metadata"]["name"])
            deadline = time.monotonic() + HEALTHY_SECONDS
            self._evict(str(pod["metadata"]["namespace"]), name, deadline)
            self._wait(pod, deadline)
            click.echo(f"replaced: Pod {name}", err=True)

    def move(self, pods: Sequence[KubeObject], *, is_forced: bool) -> None:
        """Evict all of them, then wait until they are gone and the agent is healthy.

        One after another would wait for an agent that cannot be healthy before the last of them
        has left a lost node.

        Args:
            pods: The pods.
            is_forced: Delete them at once, whatever their node says and budgets allow.

        Raises:
            HoldfastError: they do not go, or the agent does not become healthy in time.
        """
        deadline = time.monotonic() + HEALTHY_SECONDS
        for pod in pods:
            namespace, name = str(pod["metadata"]["namespace"]), str(pod["metadata"]["name"])
            if is_forced:
                self._delete(pod)
            else:
                self._evict(namespace, name, deadline)
        for pod in pods:
            self._wait(pod, deadline)
            click.echo(f"moved: Pod {pod['metadata']['name']}", err=True)

    def nodes(self) -> dict[str, KubeObject]:
        """Every node of the cluster, by name."""
        found = list_whole(self.cluster.client, "v1", "nodes")
        return {str(each["metadata"]["name"]): each for each in found}

    def _delete(self, pod: KubeObject) -> None:
        metadata = pod["metadata"]
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": metadata["uid"]},
        }
        path = path_of("v1", "pods", metadata["namespace"], metadata["name"])
        try:
            self.cluster.client.write(
                "DELETE", path, msgspec.json.encode(options), content_type=JSON
            )
        except ApiError as error:
            if not error.is_absent:
                raise

    def _evict(self, namespace: str, name: str, deadline: float) -> None:
        metadata = {"name": name, "namespace": namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = path_of("v1", "pods", namespace, name) + "/eviction"
        while True:
            try:
                self.cluster.client.write(
                    "POST",
                    path,
                    msgspec.json.encode(body),
                    content_type=JSON,
                    is_patient=False,
                )
            except ApiError as error:
                if error.is_absent:
                    return
                # A disruption budget: another pod must be ready first.
                if error.status != _TOO_MANY or time.monotonic() > deadline:
                    raise
                time.sleep(LOOK_SECONDS)
            else:
                return

    def wait_until_healthy(self, deadline: float) -> None:
        """Wait for the agent as the cluster sees it.

        Raises:
            HoldfastError: it is not healthy at the deadline (time.monotonic).
        """
        while True:
            verdict = health_of_agents(self.root, self.stack)[self.agent]
            if verdict.is_healthy:
                return
            if time.monotonic() > deadline:
                raise HoldfastError(f"{self.agent} does not become healthy: {verdict.reason}")
            time.sleep(LOOK_SECONDS)

    def _wait(self, gone: KubeObject, deadline: float) -> None:
        namespace, uid = gone["metadata"]["namespace"], gone["metadata"]["uid"]
        while True:
            there = {pod["metadata"]["uid"] for pod in self.find(namespace)}
            verdict = health_of_agents(self.root, self.stack)[self.agent]
            if uid not in there and verdict.is_healthy:
                return
            if time.monotonic() > deadline:
                why = "the pod does not go" if uid in there else verdict.reason
                raise HoldfastError(
                    f"{self.agent} is not healthy {HEALTHY_SECONDS:g} s after a pod was replaced: "
                    f"{why}; the other pods were left alone"
                )
            time.sleep(LOOK_SECONDS)
