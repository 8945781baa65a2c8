"""How the data of an agent are saved, and where a new volume's data come from."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.agent.runtime import EnvVar
from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.values import (
    Cidr,
    Cron,
    DigestReference,
    ImageReference,
    Items,
    ManifestModel,
    ObjectName,
    PartName,
    Port,
    Text,
    TimeZone,
)

AGENT_NAME_MAX_CHARACTERS = 45
"""Longest name of an agent with a backup: `<agent>-backup` names a CronJob (at most 52)."""

_JOB_FIELDS = ("image", "command", "restore_command", "env")


class Backup(ManifestModel):
    """Backups of the agent's volumes: by schedule, and before its workload changes."""

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

    @model_validator(mode="after")
    def _method_decides(self) -> Self:
        if self.method == "Job":
            for field in ("image", "command"):
                if not getattr(self, field):
                    remedy = f"add {field}, or use method: VolumeSnapshot"
                    raise fault("method Job needs this field", remedy=remedy, at=(field,))
        for field in _JOB_FIELDS if self.method == "VolumeSnapshot" else ():
            if getattr(self, field):
                alias = type(self).model_fields[field].alias or field
                remedy = "remove it, or use method: Job"
                raise fault("has no effect on snapshots", remedy=remedy, at=(alias,))
        if self.schedule is None and not self.before_rollout:
            raise fault("expected schedule or beforeRollout: without both nothing is saved")
        if self.schedule is None and self.timezone != "UTC":
            raise fault("has no effect without schedule", remedy="remove it", at=("timezone",))
        return self


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
    api_server_cidrs: Items[Cidr] = ()
    """Addresses of the API server's endpoints, which the jobs ask for snapshots."""
    api_server_port: Port = 6443
    """Port of those endpoints; default 6443."""
