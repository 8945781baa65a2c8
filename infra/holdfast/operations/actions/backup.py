"""Backups of an agent's volumes: one made now, and those that the cluster has."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.adapters.cluster.json_answers import list_whole, read_whole
from holdfast.errors import ClusterError, HoldfastError
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.manifest.types.marks import BACKUP_OF
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.actions.pods import HEALTHY_SECONDS, LOOK_SECONDS
from holdfast.operations.progress import Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext

SNAPSHOTS: Final = "snapshot.storage.k8s.io/v1"


@dataclass(frozen=True)
class BackupPlan:
    """A Job to make of the agent's backup schedule.

    Attributes:
        agent: Name of the agent.
        job: The Job.
    """

    agent: str
    job: ObjectRef

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """The Job alone."""
        return (ActionStep("create", self.job),)

    @property
    def summary(self) -> str:
        """The Job alone."""
        return f"Job {self.job.name}"


@dataclass(frozen=True, slots=True)
class BackupFound:
    """One backup in the cluster.

    Attributes:
        kind: VolumeSnapshot, or Job for one that a container of the user's has made.
        name: What `--from` takes of a snapshot; of a Job, its name alone: only its container knows
            under which id it has saved.
        made_at: RFC 3339.
        claim: Of which a snapshot is; empty for a Job.
        is_usable: Whether it is complete.
    """

    kind: str
    name: str
    made_at: str
    claim: str
    is_usable: bool


def plan_backup(agent: DeclaredAgent) -> BackupPlan:
    """Name the Job of a backup that is made now."""
    stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    name = f"{agent.name}-backup-{stamp}"
    return BackupPlan(agent.name, ObjectRef(agent.namespace, "Job", name, "batch/v1"))


def apply_backup(context: StackContext, plan: BackupPlan, progress: Progress) -> None:
    """Make a Job of the agent's backup schedule, as `kubectl create job --from`, and await its end.

    Raises:
        HoldfastError: the agent has no schedule of backups in the cluster, or the Job failed.
    """
    client = ClusterSource.of_stack(context).client
    job = _job_of(_schedule_of(client, plan), plan.job)
    path = path_of("batch/v1", "jobs", plan.job.namespace)
    client.write("POST", path, msgspec.json.encode(job), content_type=JSON)
    progress.step(f"created: {plan.job}")
    _wait_for_job(client, plan.job)


def backups_of(context: StackContext, agent: DeclaredAgent) -> list[BackupFound]:
    """Everything from which an agent could be restored, the newest first.

    Raises:
        ClusterError: they cannot be listed.
    """
    client = ClusterSource.of_stack(context).client
    backup = agent.spec.storage.backup
    by_job = backup is not None and backup.method == "Job"
    found = [*(_jobs(client, agent) if by_job else _snapshots(client, agent))]
    return sorted(found, key=lambda each: (each.made_at, each.name), reverse=True)


def _schedule_of(client: ApiClient, plan: BackupPlan) -> KubeObject:
    path = path_of("batch/v1", "cronjobs", plan.job.namespace, f"{plan.agent}-backup")
    try:
        return read_whole(client, path)
    except ApiError as error:
        if not error.is_absent:
            raise
        raise HoldfastError(
            f"{plan.agent} has no schedule of backups in the cluster",
            remedy="declare spec.backup with a schedule, and run `holdfast up`",
        ) from error


def _job_of(schedule: KubeObject, ref: ObjectRef) -> KubeObject:
    template = schedule["spec"]["jobTemplate"]
    owner = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": schedule["metadata"]["name"],
        "uid": schedule["metadata"]["uid"],
        "controller": True,
    }
    metadata = {
        **template.get("metadata", {}),
        "name": ref.name,
        "namespace": ref.namespace,
        "ownerReferences": [owner],
        "annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}


def _wait_for_job(client: ApiClient, ref: ObjectRef) -> None:
    path = path_of("batch/v1", "jobs", ref.namespace, ref.name)
    deadline = time.monotonic() + HEALTHY_SECONDS
    while time.monotonic() < deadline:
        job = read_whole(client, path)
        for condition in mapping_at(job, "status").get("conditions") or ():
            if condition.get("status") == "True" and condition.get("type") == "Complete":
                return
            if condition.get("status") == "True" and condition.get("type") == "Failed":
                raise ClusterError(f"{ref} failed: {condition.get('message')}")
        time.sleep(LOOK_SECONDS)
    raise ClusterError(
        f"{ref} did not end within {HEALTHY_SECONDS:g} s; it is still running",
        remedy=f"see `kubectl describe job -n {ref.namespace} {ref.name}`",
    )


def _snapshots(client: ApiClient, agent: DeclaredAgent) -> Iterator[BackupFound]:
    claims = {f"{agent.name}-{volume.name}" for volume in agent.spec.storage.volumes}
    try:
        listed = list_whole(client, SNAPSHOTS, "volumesnapshots", agent.namespace)
    except ApiError as error:
        if error.is_absent:
            return
        raise
    for one in listed:
        metadata, status = one["metadata"], mapping_at(one, "status")
        claim = str(mapping_at(one, "spec", "source").get("persistentVolumeClaimName") or "")
        is_ours = (metadata.get("labels") or {}).get(BACKUP_OF) == agent.name
        if is_ours or claim in claims:
            made = str(status.get("creationTime") or metadata.get("creationTimestamp") or "")
            is_usable = status.get("readyToUse") is True
            yield BackupFound("VolumeSnapshot", str(metadata["name"]), made, claim, is_usable)


def _jobs(client: ApiClient, agent: DeclaredAgent) -> Iterator[BackupFound]:
    for one in list_whole(client, "batch/v1", "jobs", agent.namespace):
        metadata, status = one["metadata"], mapping_at(one, "status")
        if str(metadata["name"]).startswith(f"{agent.name}-backup-"):
            made = str(status.get("completionTime") or metadata.get("creationTimestamp") or "")
            yield BackupFound("Job", str(metadata["name"]), made, "", bool(status.get("succeeded")))
