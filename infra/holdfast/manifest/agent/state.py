"""What outlives a pod or feeds it: storage, secrets, configuration."""

from typing import Literal, Self

from pydantic import (
    Field,
    model_validator,
)

from holdfast.kube.scalars import parse_quantity
from holdfast.kube.syntax import fault_in_subdomain_name
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.values import (
    AbsolutePath,
    Duration,
    EnvName,
    FileName,
    Items,
    ManifestModel,
    ObjectName,
    PartName,
    Quantity,
    SecretPath,
    ShortLabel,
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
    allow_replacement: bool = False
    """Let a change of storageClassName, accessModes or restoreFrom delete the claim and its data
    and make it anew; needs retain: false. Default false: such a change is refused."""

    @model_validator(mode="after")
    def _own_or_existing(self) -> Self:
        if self.existing_claim is None and self.size is None:
            raise fault("expected size (or existingClaim)", remedy='say how much, such as "10Gi"')
        if self.existing_claim is not None:
            own = {"size", "storage_class_name", "access_modes", "retain", "allow_replacement"}
            if self.model_fields_set & own:
                raise fault(
                    "existingClaim excludes size, storageClassName, accessModes, retain and "
                    "allowReplacement"
                )
        if self.allow_replacement and self.retain:
            remedy = "add retain: false, and only when the data may go"
            raise fault(
                "has no effect on a retained claim", remedy=remedy, at=("allowReplacement",)
            )
        if self.size is not None and not parse_quantity(self.size):
            raise fault("expected more than nothing", found=repr(self.size), at=("size",))
        if not self.access_modes:
            raise fault("expected at least one access mode", at=("accessModes",))
        return self

    @property
    def is_single_writer(self) -> bool:
        """Whether only one node can have it mounted for writing."""
        return not {"ReadWriteMany", "ReadOnlyMany"} & set(self.access_modes)


class SecretReference(Choosing):
    """A secret by reference: never its value."""

    CHOICES = (OneOf(("env", "mount_path")),)

    name: PartName
    """Name of this entry, by which model.apiKey and others refer to it."""
    provider: Literal["kubernetes", "externalSecret", "vault", "awsSecretsManager"] = "kubernetes"
    """Where it lives. kubernetes: a Secret in the agent's namespace; externalSecret: the stack's
    store, by External Secrets; vault: HashiCorp Vault, by its injector; awsSecretsManager: by
    External Secrets or the CSI driver, with the role of the ServiceAccount. Default kubernetes."""
    ref: SecretPath
    """Name of the Secret, or path in the store, such as prod/llm."""
    key: FileName | None = None
    """Key in the secret; required with env and by vault, default all keys with mountPath."""
    env: EnvName | None = None
    """Variable that receives the value; excludes mountPath."""
    mount_path: AbsolutePath | None = None
    """Folder in which the keys appear as files; excludes env."""
    refresh_interval: Duration | None = None
    """How often the store is asked again; default 1h. Has no effect on provider kubernetes."""
    on_change: Literal["restart", "reload"] | None = None
    """restart: the next update rolls the pods when the secret has changed; reload: the agent reads
    the file again. Default restart, where the secret never passes through a Secret reload."""

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if self.env is not None and self.key is None:
            raise fault("env needs key", remedy="name the key of the secret whose value it gets")
        if self.env is not None and self.on_change == "reload":
            remedy = "use mountPath, or onChange: restart"
            expected = "a variable does not change while the process runs"
            raise fault(expected, remedy=remedy, at=("onChange",))
        return self

    @model_validator(mode="after")
    def _provider_decides(self) -> Self:
        if self.provider == "kubernetes":
            if found := fault_in_subdomain_name(self.ref):
                raise fault(f"name of a Secret {found}", found=repr(self.ref), at=("ref",))
            if self.refresh_interval is not None:
                remedy = "remove it, or choose another provider"
                expected = "has no effect on a Secret of the cluster"
                raise fault(expected, remedy=remedy, at=("refreshInterval",))
        if self.provider == "vault":
            if self.env is not None:
                remedy = "use mountPath"
                raise fault("Vault's injector writes files", remedy=remedy, at=("env",))
            if self.key is None:
                raise fault("provider vault needs key", remedy="name the key in the secret")
            if self.on_change == "restart":
                remedy = "use onChange: reload"
                expected = "a secret of Vault never passes through Kubernetes"
                raise fault(expected, remedy=remedy, at=("onChange",))
        return self

    @property
    def interval(self) -> str:
        """How often the store is asked again, in Go's notation, which has no days."""
        text = self.refresh_interval or "1h"
        return f"{24 * int(text[:-1])}h" if text.endswith("d") else text


class ConfigEntry(Choosing):
    """Configuration files: written here, or taken from a ConfigMap that exists."""

    CHOICES = (OneOf(("data", "from_")),)

    name: ShortLabel
    """Name of this entry; the ConfigMap is called `<agent>-<name>`."""
    data: dict[FileName, str] | None = None
    """File name to content."""
    from_: ObjectName | None = Field(default=None, alias="from")
    """Name of an existing ConfigMap in the agent's namespace."""
    mount_path: AbsolutePath
    """Folder in which the files appear."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.name in {"config", "prompt"}:
            raise fault(
                "this name is Holdfast's own",
                found=repr(self.name),
                remedy="choose another",
                at=("name",),
            )
        return self
