"""A backup of an agent made now: a Job of its backup schedule, waited for. Wiring."""

import time

import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, path_of
from holdfast.adapters.cluster.whole_objects import read_whole
from holdfast.errors import ClusterError, HoldfastError
from holdfast.kube.objects import mapping_at
from holdfast.operations.actions.pods import HEALTHY_SECONDS, LOOK_SECONDS, AgentPods


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
        schedule = read_whole(client, schedules)
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
        job = read_whole(pods.cluster.client, path)
        for condition in mapping_at(job, "status").get("conditions") or ():
            if condition.get("status") == "True" and condition.get("type") == "Complete":
                return
            if condition.get("status") == "True" and condition.get("type") == "Failed":
                raise ClusterError(f"Job {namespace}/{name} failed: {condition.get('message')}")
        time.sleep(LOOK_SECONDS)
    raise ClusterError(
        f"Job {namespace}/{name} did not end within {HEALTHY_SECONDS:g} s; it goes on",
        remedy=f"see `kubectl describe job -n {namespace} {name}`",
    )
