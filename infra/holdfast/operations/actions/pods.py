"""The pods that serve for one agent: found, evicted, and waited for."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, path_of
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.errors import HoldfastError
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.kube.workload_status import HealthVerdict
from holdfast.manifest.types.marks import AGENT_LABEL
from holdfast.operations.scan.health import HealthReader
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext

HEALTHY_SECONDS: Final = 300.0
"""How long an agent may take to be healthy again after one pod has gone."""

LOOK_SECONDS: Final = 1.0
_TOO_MANY: Final = 429
_SERVING: Final = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "Sandbox"})


@dataclass(frozen=True)
class AgentPods:
    """The pods that serve for one agent of a stack; not those of jobs beside it.

    Attributes:
        agent: Name of the agent.
        namespace: Its namespace.
    """

    context: StackContext
    cluster: ClusterSource
    agent: str
    namespace: str

    @classmethod
    def of(cls, context: StackContext, agent: str, namespace: str) -> "AgentPods":
        """Find the cluster; nothing is sent yet."""
        return cls(context, ClusterSource.of_stack(context), agent, namespace)

    def find(self, node: str = "") -> list[KubeObject]:
        """Pods that exist now, by name; on one node only, if it is named.

        Raises:
            ClusterError: they cannot be listed.
        """
        selector = (
            f"{AGENT_LABEL}={self.agent},app.kubernetes.io/instance="
            f"{self.context.name.rpartition('/')[2]}"
        )
        pods = list_whole(self.cluster.client, "v1", "pods", self.namespace, selector)
        serving = [
            {"apiVersion": "v1", "kind": "Pod", **pod}
            for pod in pods
            if owner_kinds(pod) & _SERVING and (not node or node_of(pod) == node)
        ]
        return sorted(serving, key=name_of)

    def uids(self) -> set[str]:
        """The same, by uid."""
        return {uid_of(pod) for pod in self.find()}

    def evict(self, pod: KubeObject, deadline: float) -> None:
        """Evict a pod, as soon as disruption budgets allow it.

        Args:
            pod: The pod; one that is gone does not matter.
            deadline: When to give up (time.monotonic).

        Raises:
            ClusterError: the server refused, or no budget let it go in time.
        """
        metadata = {"name": name_of(pod), "namespace": self.namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = path_of("v1", "pods", self.namespace, name_of(pod)) + "/eviction"
        while True:
            try:
                self.cluster.client.write(
                    "POST", path, msgspec.json.encode(body), content_type=JSON, is_patient=False
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

    def delete(self, pod: KubeObject) -> None:
        """Delete a pod at once, whatever its node says and budgets allow.

        Raises:
            ClusterError: the server refused; a pod that is gone does not matter.
        """
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": uid_of(pod)},
        }
        path = path_of("v1", "pods", self.namespace, name_of(pod))
        try:
            self.cluster.client.write(
                "DELETE", path, msgspec.json.encode(options), content_type=JSON
            )
        except ApiError as error:
            if not error.is_absent:
                raise

    def health(self) -> HealthVerdict:
        """How the agent is, as the cluster sees it now.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        return self._reader.health()[self.agent]

    @cached_property
    def _reader(self) -> HealthReader:
        return HealthReader(self.context)

    def wait_until_replaced(
        self, gone: Collection[KubeObject], on_gone: Callable[[KubeObject], None]
    ) -> None:
        """Wait until some pods are gone and the agent is healthy without them.

        Args:
            gone: Pods that were evicted or deleted, or that a controller replaces.
            on_gone: Called for each of them that has gone.

        Raises:
            HoldfastError: no pod has gone for HEALTHY_SECONDS, or the agent is not healthy that
                long after the last one.
        """
        left = {uid_of(pod): pod for pod in gone}
        deadline = time.monotonic() + HEALTHY_SECONDS
        while True:
            there = self.uids()
            for uid in left.keys() - there:
                on_gone(left.pop(uid))
                deadline = time.monotonic() + HEALTHY_SECONDS
            verdict = self.health()
            if not left and verdict.is_healthy:
                return
            if time.monotonic() > deadline:
                names = ", ".join(sorted(name_of(pod) for pod in left.values()))
                why = f"pod {names} does not terminate" if left else verdict.reason
                raise HoldfastError(
                    f"{self.agent} is not healthy {HEALTHY_SECONDS:g} s after a pod was replaced: "
                    f"{why}; nothing more is replaced"
                )
            time.sleep(LOOK_SECONDS)

    def wait_until_healthy(self, deadline: float) -> None:
        """Wait for the agent as the cluster sees it.

        Raises:
            HoldfastError: it is not healthy at the deadline (time.monotonic).
        """
        while True:
            verdict = self.health()
            if verdict.is_healthy:
                return
            if time.monotonic() > deadline:
                raise HoldfastError(f"{self.agent} does not become healthy: {verdict.reason}")
            time.sleep(LOOK_SECONDS)


def owner_kinds(pod: KubeObject) -> set[str]:
    """Kinds of what owns a pod."""
    return {str(each.get("kind")) for each in pod["metadata"].get("ownerReferences") or ()}


def node_of(pod: KubeObject) -> str:
    """Node that a pod is bound to; empty before it is."""
    return str(mapping_at(pod, "spec").get("nodeName") or "")


def name_of(one: KubeObject) -> str:
    """Name of an object."""
    return str(one["metadata"]["name"])


def uid_of(one: KubeObject) -> str:
    """Uid of an object."""
    return str(one["metadata"]["uid"])
