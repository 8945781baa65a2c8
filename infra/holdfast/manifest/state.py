"""What outlives a pod or feeds it: storage, secrets, configuration."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from holdfast.kube.quantities import parse_quantity
from holdfast.manifest.faults import fault
from holdfast.manifest.values import (
    AbsolutePath,
    EnvName,
    FileName,
    Items,
    LabelName,
    ManifestModel,
    ObjectName,
    PartName,
    Quantity,
)

AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]


class StorageVolume(ManifestModel):
    """A volume that survives restarts: a claim of its own, or an existing one."""

    name: PartName
    """Name of the volume; the claim is called `<agent>-<name>`."""
    size: Quantity | None = None
    """Requested capacity, such as 20Gi; required unless existingClaim is given."""
    storage_class_name: ObjectName | None = None
    """StorageClass; default the cluster's. Cannot be changed later without replacing the claim."""
    access_modes: Items[AccessMode] = ("ReadWriteOnce",)
    """How nodes may mount it; default ReadWriteOnce."""
    mount_path: AbsolutePath
    """Where the container sees it."""
    existing_claim: ObjectName | None = None
    """Name of a claim that exists already; then none is rendered."""
    retain: bool = True
    """Keep the data when the agent goes; default true."""

    @model_validator(mode="after")
    def _own_or_existing(self) -> Self:
        if self.existing_claim is None and self.size is None:
            raise fault("expected size (or existingClaim)", remedy='say how much, such as "10Gi"')
        if self.existing_claim is not None:
            extra = self.model_fields_set & {"size", "storage_class_name", "access_modes", "retain"}
            if extra:
                raise fault("existingClaim excludes size, storageClassName, accessModes and retain")
        if self.size is not None and not parse_quantity(self.size):
            raise fault("expected more than nothing", found=repr(self.size), at=("size",))
        if not self.access_modes:
            raise fault("expected at least one access mode", at=("accessModes",))
        return self

    @property
    def is_single_writer(self) -> bool:
        """Whether only one node can have it mounted for writing."""
        return not {"ReadWriteMany", "ReadOnlyMany"} & set(self.access_modes)


class SecretReference(ManifestModel):
    """A secret by reference: never its value."""

    name: PartName
    """Name of this entry, by which model.apiKey and others refer to it."""
    provider: Literal["kubernetes"] = "kubernetes"
    """Where the secret lives: `kubernetes`, a Secret in the agent's namespace."""
    ref: ObjectName
    """Name of the Secret."""
    key: FileName | None = None
    """Key in the Secret; required with env, default all keys with mountPath."""
    env: EnvName | None = None
    """Variable that receives the value; excludes mountPath."""
    mount_path: AbsolutePath | None = None
    """Folder in which the keys appear as files; excludes env."""

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if (self.env is None) == (self.mount_path is None):
            raise fault("expected either env or mountPath")
        if self.env is not None and self.key is None:
            raise fault("env needs key", remedy="name the key of the Secret whose value it gets")
        return self


class ConfigEntry(ManifestModel):
    """Configuration files: written here, or taken from a ConfigMap that exists."""

    name: Annotated[LabelName, StringConstraints(max_length=20)]
    """Name of this entry; the ConfigMap is called `<agent>-<name>`."""
    data: dict[FileName, str] | None = None
    """File name to content."""
    from_: ObjectName | None = Field(default=None, alias="from")
    """Name of an existing ConfigMap in the agent's namespace."""
    mount_path: AbsolutePath
    """Folder in which the files appear."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.data is None) == (self.from_ is None):
            raise fault("expected either data or from")
        if self.name in {"config", "prompt"}:
            raise fault(
                "this name is Holdfast's own",
                found=repr(self.name),
                remedy="choose another",
                at=("name",),
            )
        return self
