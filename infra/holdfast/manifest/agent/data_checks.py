"""What must agree between an agent's volumes, backups, memory, databases and secrets.

A field that names an entry of `secrets[]` needs one that exists and gives one value.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from holdfast.manifest.agent.lifecycle import Fetch
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.references import EntryOf, marked
from holdfast.manifest.types.text_faults import STORE_SCHEMES

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec


AWS_ROLE = "eks.amazonaws.com/role-arn"
"""Annotation of a ServiceAccount: the role that its pods take in AWS."""


def faults_of_data(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    """Everything that single fields cannot know."""
    yield from _faults_of_memory(spec)
    yield from _faults_of_backup(spec)
    yield from _faults_of_restore(spec)
    yield from _faults_of_roles(spec)


def _faults_of_memory(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.memory.backend == "local" and not spec.storage:
        yield fault(
            "backend local keeps the memory in the agent's storage, and there is none",
            remedy="add storage, or choose another backend",
            at=("memory", "backend"),
        )


def _faults_of_backup(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.backup is None:
        return
    if not spec.storage:
        yield fault("has no effect without storage", remedy="remove it", at=("backup",))
    if spec.is_pooled:
        yield fault(
            "has no effect on a pool: each of its pods has volumes of its own",
            remedy="remove it",
            at=("backup",),
        )
    for index, volume in enumerate(spec.storage):
        if spec.backup.method == "Job" and "ReadWriteOncePod" in volume.access_modes:
            yield fault(
                "a backup of method Job mounts the volume beside the agent's pod",
                found="ReadWriteOncePod",
                remedy="use ReadWriteOnce, or backup.method: VolumeSnapshot",
                at=("storage", index, "accessModes"),
            )


def _faults_of_restore(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.restore_from is None:
        return
    at = ("restoreFrom",)
    own = [volume.name for volume in spec.storage if volume.existing_claim is None]
    is_job = spec.backup is not None and spec.backup.method == "Job"
    if not own or spec.is_pooled:
        remedy = "remove it, or add storage of its own"
        yield fault("has no effect without a volume of the agent's own", remedy=remedy, at=at)
    elif is_job and isinstance(spec.restore_from, dict):
        expected = "expected the id of one backup: a backup of method Job holds every volume"
        yield fault(expected, at=at)
    elif isinstance(spec.restore_from, dict):
        for name in spec.restore_from:
            if name not in own:
                yield fault(
                    "expected the name of a volume of the agent's own",
                    found=f"{name!r} (there: {', '.join(own)})",
                    at=(*at, name),
                )
    elif not is_job and len(own) > 1:
        yield fault(
            "expected {volume: snapshot}: there are several volumes",
            found=repr(spec.restore_from),
            remedy=f"say which of {', '.join(own)}",
            at=at,
        )
    if is_job and spec.backup is not None and not spec.backup.restore_command:
        remedy = "say how to fill the volumes"
        yield fault("restoreFrom needs this field", remedy=remedy, at=("backup", "restoreCommand"))


def _faults_of_roles(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    account = spec.security.service_account
    for index, secret in enumerate(spec.secrets):
        if secret.provider == "awsSecretsManager" and (
            account.create and AWS_ROLE not in account.annotations
        ):
            yield fault(
                "AWS Secrets Manager is asked with the role of the ServiceAccount, which has none",
                remedy=f"add {AWS_ROLE} to security.serviceAccount.annotations",
                at=("secrets", index, "provider"),
            )


def faults_of_secret_entries(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    """Names of entries that do not exist, or that do not give what their user reads."""
    entries = {secret.name: secret for secret in spec.secrets}
    for use in marked(spec, EntryOf, ()):
        entry = entries.get(use.value)
        if entry is None:
            known = ", ".join(sorted(entries)) or "none"
            yield fault(
                "expected the name of an entry of secrets[]",
                found=f"{use.value!r} (there: {known})",
                at=use.path,
            )
        elif use.mark.form == "value" and entry.env is None and entry.key is None:
            yield fault(
                "expected an entry with one value",
                found=f"{use.value!r}, which has no key",
                remedy="name the key in secrets[]",
                at=use.path,
            )
        elif use.mark.form == "files" and entry.mount_path is None:
            expected = "expected an entry of secrets[] with mountPath: a fetch reads files only"
            yield fault(expected, found=repr(use.value), at=use.path)
        elif entry.key is None and _is_token(use.part):
            expected = "expected an entry of secrets[] with key: the file that holds the token"
            yield fault(expected, found=repr(use.value), at=use.path)


def _is_token(part: object) -> bool:
    """Whether what a part reads is a bearer token, not the key pair of a store."""
    return isinstance(part, Fetch) and part.scheme not in STORE_SCHEMES
