"""The pods of an agent made anew one after another, waiting until it is healthy. Wiring."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from holdfast.cli.agent_health import health_of_agents
from holdfast.cli.drift_cluster import ClusterSource
from holdfast.cli.stack_state import StackState
from holdfast.cluster.api_error import ApiError
from holdfast.cluster.client import JSON, path_of
from holdfast.cluster.whole_objects import list_whole
from holdfast.errors import ClusterError, HoldfastError
from holdfast.kube.objects import KubeObject, mapping_at

HEALTHY_SECONDS = 300.0
"""How long an agent may take to be healthy again after one pod has gone."""

_LOOK_SECONDS = 1.0
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
        state = StackState(root, stack)
        cluster = ClusterSource.connect(state.kubeconfig, state.context, _REQUEST_TIMEOUT_SECONDS)
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

    def _evict(self, namespace: str, name: str, deadline: float) -> None:
        metadata = {"name": name, "namespace": namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = path_of("v1", "pods", namespace, name) + "/eviction"
        while True:
            try:
                self.cluster.client.write(
                    "POST", path, msgspec.json.encode(body), content_type=JSON
                )
            except ApiError as error:
                if error.is_absent:
                    return
                # A disruption budget: another pod must be ready first.
                if error.status != _TOO_MANY or time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_SECONDS)
            else:
                return

    def _wait(self, gone: KubeObject, deadline: float) -> None:
        namespace, uid = gone["metadata"]["namespace"], gone["metadata"]["uid"]
        while True:
            there = {pod["metadata"]["uid"] for pod in self.find(namespace)}
            verdict = health_of_agents(self.root, self.stack)[self.agent]
            if uid not in there and verdict.is_healthy:
                return
            if time.monotonic() > deadline:
                why = verdict.reason or "the pod does not go"
                raise HoldfastError(
                    f"{self.agent} is not healthy {HEALTHY_SECONDS:g} s after a pod was replaced: "
                    f"{why}; the other pods were left alone"
                )
            time.sleep(_LOOK_SECONDS)


def back_up_now(pods: AgentPods, namespace: str, stamp: str) -> str:
    """Make a Job of the agent's backup schedule, as `kubectl create job --from` does.

    Returns:
        Name of the Job.

    Raises:
        HoldfastError: the agent has no schedule of backups in the cluster, or the Job failed.
    """
    client = pods.cluster.client
    schedules = path_of("batch/v1", "cronjobs", namespace, f"{pods.agent}-backup")
    try:
        schedule = msgspec.json.decode(client.get(schedules))
    except ApiError as error:
        if not error.is_absent:
            raise
        raise HoldfastError(
            f"{pods.agent} has no schedule of backups in the cluster",
            remedy="declare spec.backup with a schedule, and run `holdfast up`",
        ) from error
    template = schedule["spec"]["jobTemplate"]
    name = f"{pods.agent}-backup-{stamp}"
    owner = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": schedule["metadata"]["name"],
        "uid": schedule["metadata"]["uid"],
        "controller": True,
    }
    metadata = {
        **template.get("metadata", {}),
        "name": name,
        "namespace": namespace,
        "ownerReferences": [owner],
        "annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}
    path = path_of("batch/v1", "jobs", namespace)
    client.write("POST", path, msgspec.json.encode(job), content_type=JSON)
    _wait_for_job(pods, namespace, name)
    return name


def _wait_for_job(pods: AgentPods, namespace: str, name: str) -> None:
    path = path_of("batch/v1", "jobs", namespace, name)
    deadline = time.monotonic() + HEALTHY_SECONDS
    while time.monotonic() < deadline:
        job = msgspec.json.decode(pods.cluster.client.get(path))
        for condition in mapping_at(job, "status").get("conditions") or ():
            if condition.get("status") == "True" and condition.get("type") == "Complete":
                return
            if condition.get("status") == "True" and condition.get("type") == "Failed":
                raise ClusterError(f"Job {namespace}/{name} failed: {condition.get('message')}")
        time.sleep(_LOOK_SECONDS)
    raise ClusterError(
        f"Job {namespace}/{name} did not end within {HEALTHY_SECONDS:g} s; it goes on",
        remedy=f"see `kubectl describe job -n {namespace} {name}`",
    )
