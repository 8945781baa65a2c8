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
from holdfast.render.plan.marks import AgentMarks, RenderedObject, content_hash
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.pod.container import security_context
from holdfast.render.pod.environment import render_declared_env

REMAINS_SECONDS: Final = 604_800
"""What a scheduled backup leaves to look at goes after a week."""


def render_backup(
    marks: AgentMarks,
    spec: AgentSpec,
    surroundings: Surroundings,
    workload: Sequence[RenderedObject],
) -> list[RenderedObject]:
    """Account and rights, NetworkPolicy, CronJob `<agent>-backup` and Job `<agent>-backup-<hash>`.

    Args:
        marks: The agent's marks.
        spec: The agent.
        surroundings: Its stack.
        workload: What the Job must precede: its name is made of their content.

    Raises:
        RenderError: the stack does not offer what snapshots take.
    """
    if spec.backup is None:
        return []
    snapshots = spec.backup.method == "VolumeSnapshot"
    runner = (snapshot_runner if snapshots else job_runner)(marks, spec, surroundings)
    rendered = [*runner.objects]
    if spec.backup.schedule is not None:
        rendered.append(RenderedObject(marks.name, "backup-schedule", _cron_job(runner)))
    if spec.backup.before_rollout:
        content = content_hash([item.manifest for item in workload], digits=8)
        job: KubeObject = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": marks.metadata(f"{SUFFIX}-{content}"),
            "spec": runner.job(),
        }
        rendered.append(RenderedObject(marks.name, "backup-before-rollout", job))
    return rendered


def _cron_job(runner: BackupRunner) -> KubeObject:
    labels = runner.marks.object_labels()
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": runner.marks.metadata(SUFFIX),
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

    A marker in each volume says that it is filled.
    """
    backup = spec.backup
    if backup is None or backup.method != "Job" or spec.restore_from is None:
        return None
    script = (
        'for folder in $RESTORE_FOLDERS; do [ -e "$folder/.restored-$RESTORE_FROM" ] && exit 0; '
        'done; "$@"; '
        'for folder in $RESTORE_FOLDERS; do : > "$folder/.restored-$RESTORE_FROM"; done'
    )
    volumes = [volume for volume in spec.storage if volume.name in spec.restored]
    variables = {
        "RESTORE_FROM": next(iter(spec.restored.values())),
        "RESTORE_FOLDERS": " ".join(volume.mount_path for volume in volumes),
    }
    own = [{"name": name, "value": value} for name, value in sorted(variables.items())]
    return {
        "name": "restore",
        "image": backup.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-ec", script, "restore", *backup.restore_command],
        "env": [*own, *render_declared_env(backup.env)],
        "resources": BACKUP_RESOURCES,
        "securityContext": security_context(spec),
        "volumeMounts": [
            {"name": volume_name(volume), "mountPath": volume.mount_path} for volume in volumes
        ],
    }
