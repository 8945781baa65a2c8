"""Backups of an agent's volumes, by a CronJob and by a Job before its workload changes; restores.

The Job is called by the content of the workload: a changed workload is another Job, which must end
well before the engine goes on. What a schedule or a Job makes is theirs, not the declaration's.
"""

from collections.abc import Sequence
from typing import Final

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.objects.backup_pods import (
    BACKUP_RESOURCES,
    SUFFIX,
    BackupRunner,
    job_runner,
    snapshot_runner,
)
from holdfast.render.objects.storage import volume_name
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject, content_hash
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import security_context, temporary_mounts
from holdfast.render.pod.environment import render_declared_env

REMAINS_SECONDS: Final = 604_800
"""What a scheduled backup leaves is deleted after a week."""


RESTORE_SCRIPT: Final = """\
umask 002
for folder in $RESTORE_FOLDERS; do
  [ -e "$folder/.restored-$RESTORE_FROM" ] && exit 0
done
"$@"
for folder in $RESTORE_FOLDERS; do
  find "$folder" -user "$(id -u)" -exec chmod g+rwX {} +
  : > "$folder/.restored-$RESTORE_FROM"
done
"""


def render_backup(
    meta: AgentMetadata,
    spec: AgentSpec,
    context: RenderContext,
    workload: Sequence[RenderedObject],
) -> list[RenderedObject]:
    """Account and rights, NetworkPolicy, CronJob `<agent>-backup` and Job `<agent>-backup-<hash>`.

    Args:
        meta: The agent's marks.
        spec: The agent.
        context: Its stack.
        workload: What the Job must precede: its name is made of their content.

    Raises:
        RenderError: the stack does not offer what snapshots take.
    """
    if spec.storage.backup is None:
        return []
    snapshots = spec.storage.backup.method == "VolumeSnapshot"
    runner = (snapshot_runner if snapshots else job_runner)(meta, spec, context)
    rendered = [*runner.objects]
    if spec.storage.backup.schedule is not None:
        rendered.append(RenderedObject(meta.name, "backup-schedule", _cron_job(runner)))
    if spec.storage.backup.before_rollout:
        content = content_hash([item.manifest for item in workload], digits=8)
        job: KubeObject = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": meta.metadata(f"{SUFFIX}-{content}"),
            "spec": runner.job(),
        }
        rendered.append(RenderedObject(meta.name, "backup-before-rollout", job))
    return rendered


def _cron_job(runner: BackupRunner) -> KubeObject:
    labels = runner.meta.object_labels()
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": runner.meta.metadata(SUFFIX),
        "spec": {
            "schedule": runner.backup.schedule,
            "timeZone": runner.backup.timezone,
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "suspend": False,
            "jobTemplate": {
                "metadata": {"labels": labels},
                "spec": runner.job() | {"ttlSecondsAfterFinished": REMAINS_SECONDS},
            },
        },
    }


def restore_container(spec: AgentSpec) -> KubeObject | None:
    """Init container that fills new volumes from a backup of method Job; once, not at every start.

    A marker in each volume says that it is filled. The image may have another user than the
    agent's; both are in the volumes' group, which may write what was restored.
    """
    backup = spec.storage.backup
    if backup is None or backup.method != "Job" or spec.storage.restore_from is None:
        return None
    volumes = [volume for volume in spec.storage.volumes if volume.name in spec.storage.restored]
    variables = {
        "RESTORE_FROM": next(iter(spec.storage.restored.values())),
        "RESTORE_FOLDERS": " ".join(volume.mount_path for volume in volumes),
    }
    own = [{"name": name, "value": value} for name, value in sorted(variables.items())]
    return {
        "name": "restore",
        "image": backup.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-ec", RESTORE_SCRIPT, "restore", *backup.restore_command],
        "env": [*own, *render_declared_env(backup.env)],
        "resources": BACKUP_RESOURCES,
        "securityContext": security_context(spec),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            *({"name": volume_name(volume), "mountPath": volume.mount_path} for volume in volumes),
            *temporary_mounts(spec),
        ],
    }
