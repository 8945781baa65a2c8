"""What outlives a pod or feeds it: storage, secrets, configuration."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import (
    Field,
)

from holdfast.kube.syntax import fault_in_subdomain_name
from holdfast.manifest.agent.backup import Backup, RestoreFrom
from holdfast.manifest.agent.memory import Database
from holdfast.manifest.types.conditions import Given, Some, Written, any_given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import EnvName, FileName, ObjectName, PartName, ShortLabel
from holdfast.manifest.types.rules import Computed, Found, OneOf, Rule, Ruled, Unique, finds
from holdfast.manifest.types.values import AbsolutePath, Duration, PositiveQuantity, SecretPath

AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]


class StorageVolume(Ruled):
    """A volume that survives restarts: a claim of its own, or an existing one."""

    RULES = (
        Rule(
            "storage-has-size",
            any_given("size", "existing_claim"),
            "expected size (or existingClaim)",
            remedy='say how much, such as "10Gi"',
        ),
        Rule(
            "existing-claim-has-its-own",
            Given("existing_claim").excludes(
                Some(
                    (
                        Written("size"),
                        Written("storage_class_name"),
                        Written("access_modes"),
                        Written("retain"),
                        Written("allow_replacement"),
                    )
                )
            ),
            "existingClaim excludes size, storageClassName, accessModes, retain and "
            "allowReplacement",
            remedy="remove them, or existingClaim",
        ),
        Rule(
            "replacement-of-what-may-go",
            is_("allow_replacement", True).needs(is_("retain", False) | Given("existing_claim")),
            "has no effect on a retained claim",
            remedy="add retain: false, and only when the data may go",
            at="allow_replacement",
        ),
        Rule(
            "storage-access",
            Given("access_modes"),
            "expected at least one access mode",
            at="access_modes",
            remedy="write ReadWriteOnce, or ReadWriteMany where several replicas write",
        ),
    )

    name: PartName
    """Name of the volume; the claim is called `<agent>-<name>`."""
    size: PositiveQuantity | None = None
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
    and recreate it; needs retain: false. Default false: such a change is refused."""

    @property
    def is_single_writer(self) -> bool:
        """Whether only one node can have it mounted for writing."""
        return not {"ReadWriteMany", "ReadOnlyMany"} & set(self.access_modes)


class StorageSettings(ManifestModel):
    """Where the agent's data are: volumes, databases, backups."""

    volumes: Annotated[Items[StorageVolume], Unique()] = ()
    """Volumes that survive restarts."""
    databases: Annotated[Items[Database], Unique()] = ()
    """Databases it talks to."""
    backup: Backup | None = None
    """Backups of its volumes; default none."""
    restore_from: RestoreFrom | None = None
    """What fills new volumes: a VolumeSnapshot, {volume: snapshot} when there are several, or the
    id of a backup of method Job. To stay as long as the claim does."""

    @property
    def restored(self) -> dict[str, str]:
        """Volume of the agent's own to the backup that fills it."""
        if self.restore_from is None or isinstance(self.restore_from, dict):
            return dict(self.restore_from or {})
        own = (volume.name for volume in self.volumes if volume.existing_claim is None)
        return dict.fromkeys(own, self.restore_from)

    @property
    def is_single_writer(self) -> bool:
        """Whether only one pod can hold its volumes, not even two during an update."""
        return any(volume.is_single_writer for volume in self.volumes)


class SecretReference(Ruled):
    """A secret by reference: never its value."""

    RULES = (
        OneOf(("env", "mount_path")),
        Rule(
            "secret-variable-has-key",
            Given("env").needs(Given("key")),
            "env needs key",
            remedy="name the key of the secret whose value it gets",
        ),
        Rule(
            "secret-variable-not-reloaded",
            Given("env").excludes(is_("on_change", "reload")),
            "a variable does not change while the process runs",
            remedy="use mountPath, or onChange: restart",
            at="on_change",
        ),
        Rule(
            "secret-name",
            Computed(
                cel="(has(self.provider) && self.provider != 'kubernetes') || "
                "(size(self.ref) <= 253 && self.ref.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?"
                "([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'))"
            ),
            "name of a Secret {fault}",
            remedy="write the name that the Secret has in the cluster",
        ),
        Rule(
            "secret-of-cluster-not-refreshed",
            Given("refresh_interval").excludes(is_("provider", "kubernetes")),
            "has no effect on a Secret of the cluster",
            remedy="remove it, or choose another provider",
            at="refresh_interval",
        ),
        Rule(
            "vault-writes-files",
            is_("provider", "vault").excludes(Given("env")),
            "Vault's injector writes files",
            remedy="use mountPath",
            at="env",
        ),
        Rule(
            "vault-has-key",
            is_("provider", "vault").needs(Given("key") | Given("env")),
            "provider vault needs key",
            remedy="name the key in the secret",
        ),
        Rule(
            "vault-reloads",
            is_("provider", "vault").excludes(is_("on_change", "restart")),
            "a secret of Vault never passes through Kubernetes",
            remedy="use onChange: reload",
            at="on_change",
        ),
    )

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

    @property
    def interval(self) -> str:
        """How often the store is asked again, in Go's notation, which has no days."""
        text = self.refresh_interval or "1h"
        return f"{24 * int(text[:-1])}h" if text.endswith("d") else text


class ConfigEntry(Ruled):
    """Configuration files: written here, or taken from a ConfigMap that exists."""

    RULES = (
        OneOf(("data", "from_")),
        Rule(
            "config-name-is-free",
            ~is_("name", "config", "prompt"),
            "this name is Holdfast's own",
            shown=("name",),
            remedy="choose another",
            at="name",
        ),
    )

    name: ShortLabel
    """Name of this entry; the ConfigMap is called `<agent>-<name>`."""
    data: dict[FileName, str] | None = None
    """File name to content."""
    from_: ObjectName | None = Field(default=None, alias="from")
    """Name of an existing ConfigMap in the agent's namespace."""
    mount_path: AbsolutePath
    """Folder in which the files appear."""


@finds("secret-name")
def _faulty_name(secret: SecretReference) -> Iterator[Found]:
    if secret.provider == "kubernetes" and (why := fault_in_subdomain_name(secret.ref)):
        yield Found(("ref",), repr(secret.ref), words=(("fault", why),))
