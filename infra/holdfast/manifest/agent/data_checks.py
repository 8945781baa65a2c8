"""What must agree between an agent's volumes, backups, memory, databases and secrets.

A field that names an entry of `secrets[]` needs one that exists and gives one value.
"""

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from holdfast.manifest.agent.agent_checks import POOLED
from holdfast.manifest.agent.lifecycle import Fetch
from holdfast.manifest.agent.state import SecretReference
from holdfast.manifest.types.conditions import Every, Given, is_
from holdfast.manifest.types.references import EntryOf, Marked, marked
from holdfast.manifest.types.rules import Computed, Found, Rule, finds
from holdfast.manifest.types.text_faults import STORE_SCHEMES

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec


AWS_ROLE = "eks.amazonaws.com/role-arn"
"""Annotation of a ServiceAccount: the role that its pods take in AWS."""


_OF_A_CHOICE: Final = "restoreFrom is a name or a mapping, which CEL cannot read"
_OF_THE_WHOLE_SPEC: Final = "fields all over the spec name entries"

DATA_RULES: Final = (
    Rule(
        "local-memory-has-volumes",
        is_("memory.backend", "local").needs(Given("storage.volumes")),
        "backend local keeps the memory in the agent's volumes, and there are none",
        remedy="add storage.volumes, or choose another backend",
        at="memory.backend",
    ),
    Rule(
        "backup-has-volumes",
        Given("storage.backup").needs(Given("storage.volumes")),
        "has no effect without volumes",
        remedy="remove it",
        at="storage.backup",
    ),
    Rule(
        "backup-of-a-pool",
        POOLED.excludes(Given("storage.backup")),
        "has no effect on a pool: each of its pods has volumes of its own",
        remedy="remove it",
        at="storage.backup",
    ),
    Rule(
        "backup-job-mounts",
        Computed(
            cel="!has(self.storage) || !has(self.storage.backup) || "
            "!has(self.storage.backup.method) || self.storage.backup.method != 'Job' || "
            "!has(self.storage.volumes) || self.storage.volumes.all(each, "
            "!has(each.accessModes) || !('ReadWriteOncePod' in each.accessModes))",
            fields=("storage",),
        ),
        "a backup of method Job mounts the volume beside the agent's pod",
        remedy="use ReadWriteOnce, or storage.backup.method: VolumeSnapshot",
    ),
    Rule(
        "restore-has-own-volume",
        Computed(why_not=_OF_A_CHOICE, fields=("storage",)),
        "has no effect without a volume of the agent's own",
        remedy="remove it, or add one to storage.volumes",
    ),
    Rule(
        "restore-one-backup",
        Computed(why_not=_OF_A_CHOICE, fields=("storage",)),
        "expected the id of one backup: a backup of method Job holds every volume",
        remedy="write the id of the backup, without a mapping",
    ),
    Rule(
        "restore-known-volume",
        Computed(why_not=_OF_A_CHOICE, fields=("storage",)),
        "expected the name of a volume of the agent's own",
        remedy="name an entry of storage.volumes that has a claim of its own",
    ),
    Rule(
        "restore-says-which",
        Computed(why_not=_OF_A_CHOICE, fields=("storage",)),
        "expected {volume: snapshot}: there are several volumes",
        remedy="write the snapshot of each volume",
    ),
    Rule(
        "restore-has-command",
        Every((Given("storage.restore_from"), is_("storage.backup.method", "Job"))).needs(
            Given("storage.backup.restore_command")
        ),
        "restoreFrom needs this field",
        remedy="say how to fill the volumes",
        at="storage.backup.restore_command",
    ),
    Rule(
        "aws-secret-has-role",
        Computed(
            why_not="items of a list are compared with annotations of another part",
            fields=("secrets",),
        ),
        "AWS Secrets Manager is asked with the role of the ServiceAccount, which has none",
        remedy=f"add {AWS_ROLE} to pod.security.serviceAccount.annotations",
    ),
    Rule(
        "secret-entry-is-there",
        Computed(why_not=_OF_THE_WHOLE_SPEC),
        "expected the name of an entry of secrets[]",
        remedy="add the entry to secrets, or name one of them",
    ),
    Rule(
        "secret-entry-has-a-value",
        Computed(why_not=_OF_THE_WHOLE_SPEC),
        "expected an entry with one value",
        remedy="name the key in secrets[]",
    ),
    Rule(
        "secret-entry-is-mounted",
        Computed(why_not=_OF_THE_WHOLE_SPEC),
        "expected an entry of secrets[] with mountPath: a fetch reads files only",
        remedy="add mountPath to the entry",
    ),
    Rule(
        "secret-entry-is-a-token",
        Computed(why_not=_OF_THE_WHOLE_SPEC),
        "expected an entry of secrets[] with key: the file that holds the token",
        remedy="add key to the entry",
    ),
)
_AT_RESTORE: Final = ("storage", "restoreFrom")


@finds("backup-job-mounts")
def _mounted_once(spec: "AgentSpec") -> Iterator[Found]:
    is_job = spec.storage.backup is not None and spec.storage.backup.method == "Job"
    for index, volume in enumerate(spec.storage.volumes if is_job else ()):
        if "ReadWriteOncePod" in volume.access_modes:
            yield Found(("storage", "volumes", index, "accessModes"), "ReadWriteOncePod")


def _own_volumes(spec: "AgentSpec") -> list[str]:
    """The volumes that a backup can fill."""
    if spec.is_pooled:
        return []
    return [volume.name for volume in spec.storage.volumes if volume.existing_claim is None]


def _is_filled_by_job(spec: "AgentSpec") -> bool:
    return spec.storage.backup is not None and spec.storage.backup.method == "Job"


@finds("restore-has-own-volume")
def _nothing_to_fill(spec: "AgentSpec") -> Iterator[Found]:
    if spec.storage.restore_from is not None and not _own_volumes(spec):
        yield Found(_AT_RESTORE)


@finds("restore-one-backup")
def _several_backups(spec: "AgentSpec") -> Iterator[Found]:
    is_mapping = isinstance(spec.storage.restore_from, dict)
    if _own_volumes(spec) and _is_filled_by_job(spec) and is_mapping:
        yield Found(_AT_RESTORE)


@finds("restore-known-volume")
def _unknown_volumes(spec: "AgentSpec") -> Iterator[Found]:
    source, own = spec.storage.restore_from, _own_volumes(spec)
    if isinstance(source, dict) and own and not _is_filled_by_job(spec):
        for name in source:
            if name not in own:
                yield Found((*_AT_RESTORE, name), f"{name!r} (there: {', '.join(own)})")


@finds("restore-says-which")
def _one_for_several(spec: "AgentSpec") -> Iterator[Found]:
    source, own = spec.storage.restore_from, _own_volumes(spec)
    if isinstance(source, str) and len(own) > 1 and not _is_filled_by_job(spec):
        yield Found(_AT_RESTORE, repr(source), f"say which of {', '.join(own)}")


@finds("aws-secret-has-role")
def _no_role(spec: "AgentSpec") -> Iterator[Found]:
    account = spec.pod.security.service_account
    if account.create and AWS_ROLE not in account.annotations:
        for index, secret in enumerate(spec.secrets):
            if secret.provider == "awsSecretsManager":
                yield Found(("secrets", index, "provider"))


def _uses(spec: "AgentSpec") -> Iterator[tuple[Marked[EntryOf], SecretReference | None]]:
    """Each field that names an entry of `secrets[]`, with the entry."""
    entries = {secret.name: secret for secret in spec.secrets}
    for use in marked(spec, EntryOf, ()):
        yield use, entries.get(use.value)


@finds("secret-entry-is-there")
def _unknown_entries(spec: "AgentSpec") -> Iterator[Found]:
    names = sorted(secret.name for secret in spec.secrets)
    for use, entry in _uses(spec):
        if entry is None:
            close = difflib.get_close_matches(str(use.value), names, n=1)
            remedy = f'did you mean "{close[0]}"?' if close else ""
            found = f"{use.value!r} (there: {', '.join(names) or 'none'})"
            yield Found(use.path, found, remedy=remedy)


def _has_no_value(use: Marked[EntryOf], entry: SecretReference) -> bool:
    return use.mark.form == "value" and entry.env is None and entry.key is None


@finds("secret-entry-has-a-value")
def _entries_without_value(spec: "AgentSpec") -> Iterator[Found]:
    for use, entry in _uses(spec):
        if entry is not None and _has_no_value(use, entry):
            yield Found(use.path, f"{use.value!r}, which has no key")


@finds("secret-entry-is-mounted")
def _entries_without_files(spec: "AgentSpec") -> Iterator[Found]:
    for use, entry in _uses(spec):
        if entry is not None and use.mark.form == "files" and entry.mount_path is None:
            yield Found(use.path, repr(use.value))


@finds("secret-entry-is-a-token")
def _entries_without_token(spec: "AgentSpec") -> Iterator[Found]:
    for use, entry in _uses(spec):
        if entry is None or (use.mark.form == "files" and entry.mount_path is None):
            continue
        if entry.key is None and _is_token(use.part):
            yield Found(use.path, repr(use.value))


def _is_token(part: object) -> bool:
    """Whether what a part reads is a bearer token, not the key pair of a store."""
    return isinstance(part, Fetch) and part.scheme not in STORE_SCHEMES
