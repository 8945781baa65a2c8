"""How the data of an agent are saved, and where a new volume's data come from."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.agent.container import EnvVar
from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types.conditions import Given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import ObjectName, PartName
from holdfast.manifest.types.rules import Rule, Ruled
from holdfast.manifest.types.values import Cron, DigestReference, ImageReference, Text, TimeZone

BACKED_UP_AGENT_NAME_MAX = 45
"""Longest name of an agent with a backup: `<agent>-backup` names a CronJob (at most 52)."""

_JOB_FIELDS = ("image", "command", "restore_command", "env")


class Backup(Ruled):
    """Backups of the agent's volumes: by schedule, and before its workload changes."""

    RULES = (
        *(
            Rule(
                f"backup-job-{field.replace('_', '-')}",
                is_("method", "Job").needs(Given(field)),
                "method Job needs this field",
                remedy=f"add {field}, or use method: VolumeSnapshot",
                at=field,
            )
            for field in ("image", "command")
        ),
        *(
            Rule(
                f"backup-snapshot-{field.replace('_', '-')}",
                Given(field).needs(is_("method", "Job")),
                "has no effect on snapshots",
                remedy="remove it, or use method: Job",
                at=field,
            )
            for field in ("image", "command", "restore_command", "env")
        ),
        Rule(
            "backup-at-some-time",
            Given("schedule") | is_("before_rollout", True),
            "expected schedule or beforeRollout: without both nothing is saved",
            remedy='add schedule, such as "0 2 * * *", or beforeRollout: true',
        ),
        Rule(
            "backup-timezone",
            is_("timezone", "UTC") | Given("schedule"),
            "has no effect without schedule",
            remedy="remove it",
            at="timezone",
        ),
    )

    method: Literal["VolumeSnapshot", "Job"] = "VolumeSnapshot"
    """VolumeSnapshot: snapshots of the claims; Job: a container of yours that mounts the volumes
    read-only. Default VolumeSnapshot."""
    schedule: Cron | None = None
    """When: minute, hour, day of the month, month, day of the week; default never."""
    timezone: TimeZone = "UTC"
    """Time zone of the schedule; default UTC."""
    retention_days: Annotated[int, Field(ge=1, le=3650)] = 7
    """Days that a backup is kept; snapshots are deleted afterwards, your container reads it in
    BACKUP_RETENTION_DAYS. Default 7."""
    before_rollout: bool = True
    """Make a backup before the workload changes; the change waits for it. Default true."""
    image: ImageReference | None = None
    """Image of the container; method Job only."""
    command: Items[Text] = ()
    """Command that saves the volumes; method Job only."""
    restore_command: Items[Text] = ()
    """Command that fills them from the backup named in RESTORE_FROM; method Job only."""
    env: Items[EnvVar] = ()
    """Variables of both commands, such as where to save; method Job only."""


def _restore_shape(value: object) -> str | None:
    return "name" if isinstance(value, str) else "volumes" if isinstance(value, dict) else None


RestoreFrom = Annotated[
    Annotated[ObjectName, branch("name")]
    | Annotated[dict[PartName, ObjectName], branch("volumes"), Field(min_length=1)],
    chosen_by(_restore_shape, "expected the name of a backup, or {volume: backup}"),
]
"""A VolumeSnapshot (or, with backup.method Job, a backup's id), or one for each volume."""


class BackupSettings(ManifestModel):
    """What snapshots take in this environment."""

    image: DigestReference | None = None
    """Image of the jobs of backup.method VolumeSnapshot; must hold sh, date and curl."""
    snapshot_class_name: ObjectName | None = None
    """VolumeSnapshotClass; default the cluster's."""
