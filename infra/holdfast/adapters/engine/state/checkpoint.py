"""A checkpoint of a stack: the resources the engine recorded, and the Kubernetes objects in them.

Values that the engine encrypted are left out of the objects, unread.
"""

import gzip
import importlib
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol, cast

import msgspec

from holdfast.adapters.engine.run.events import KUBERNETES_TYPE_PREFIX, Inputs
from holdfast.errors import EngineError
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of

NEWEST_VERSION = 4
"""Newest checkpoint format read here; 4 adds a list of features to 3."""

NOT_KNOWN_YET: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""How the engine writes a value that is known after an update."""

_GZIP = b"\x1f\x8b"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
# With this key a mapping is no data but a secret, asset or reference of the engine.
_SIGNATURE = b"4dabf18193072939515e22adb298388d"
_SIGNATURE_KEY = _SIGNATURE.decode()


class RecordedResource(msgspec.Struct, rename="camel", frozen=True):
    """One resource of a checkpoint, as the engine wrote it.

    Attributes:
        inputs: JSON text of what the program asked for.
        answer: JSON text of what the provider answered: the live object and notes of its own.
        created: When it was created, RFC 3339; empty when an old engine wrote it.
        modified: When its record last changed, by an update or by a refresh.
        protect: Whether deleting it is refused.
        retain_on_delete: Whether its object stays in the cluster when it is deleted.
        ignore_changes: Properties whose changes an update ignores.
        parent: Component that it stands below; empty for the root.
    """

    urn: str
    type: str
    custom: bool = False
    delete: bool = False
    external: bool = False
    inputs: msgspec.Raw = msgspec.Raw(b"{}")
    answer: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"{}"), name="outputs")
    created: str = ""
    modified: str = ""
    protect: bool = False
    retain_on_delete: bool = False
    ignore_changes: tuple[str, ...] | None = ()
    parent: str = ""

    @property
    def properties(self) -> tuple[Any, Any]:
        """What was asked for and what was answered, as JSON data; secrets as they are recorded."""
        return msgspec.json.decode(self.inputs), msgspec.json.decode(self.answer)

    def kubernetes_object(self) -> "RecordedObject | None":
        """The one object that it stands for; None when the stack owns none by it."""
        if not self.custom or self.delete or self.external:
            return None
        if not self.type.startswith(KUBERNETES_TYPE_PREFIX):
            return None
        try:
            head = _HEADS.decode(self.answer)
        except msgspec.ValidationError:
            return _object_without_head(self.answer, self.inputs)
        named = head.metadata
        reference = ObjectRef(named.namespace, head.kind, named.name, head.api_version)
        return RecordedObject(self.answer, reference, named.uid, head.field_manager, self.inputs)


class _RecordedMetadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""


class _Head(msgspec.Struct, rename="camel"):
    """What identifies an object, read without the rest of it."""

    api_version: str
    kind: str
    metadata: _RecordedMetadata
    field_manager: str = msgspec.field(default="", name="__fieldManager")


_HEADS = msgspec.json.Decoder(_Head)


@dataclass(frozen=True, eq=False)
class RecordedObject:
    """A live object as it was recorded; most are never looked into.

    Equal to another record that says the same, however it is written.

    Attributes:
        answer: JSON text of what the provider answered.
        reference: Its reference.
        uid: UID of the live object; empty when none was recorded.
        field_manager: Manager under which the provider applied it; empty when unknown.
        inputs: JSON text of what the program asked for.
    """

    answer: msgspec.Raw = field(repr=False)
    reference: ObjectRef
    uid: str
    field_manager: str
    inputs: msgspec.Raw = field(default_factory=lambda: msgspec.Raw(b"{}"), repr=False)

    @cached_property
    def live(self) -> KubeObject:
        """The whole object, without the provider's notes and without secrets."""
        return _shown(self.answer, msgspec.json.decode(self.answer))

    @cached_property
    def asked(self) -> KubeObject | None:
        """What the program asked for; None where a part of it is secret, or it is no object."""
        if _SIGNATURE in bytes(self.inputs):
            return None
        asked = msgspec.json.decode(self.inputs)
        if not isinstance(asked, dict) or not {"apiVersion", "kind"} <= asked.keys():
            return None
        return _without_notes(asked)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordedObject):
            return NotImplemented
        return self.field_manager == other.field_manager and self.live == other.live

    def __hash__(self) -> int:
        return hash((self.reference, self.uid))


def _object_without_head(text: msgspec.Raw, inputs: msgspec.Raw) -> RecordedObject | None:
    """An object of which a name or a version is secret, or no text; None where there is none."""
    answer = msgspec.json.decode(text)
    if not isinstance(answer, dict) or not {"apiVersion", "kind", "metadata"} <= answer.keys():
        return None
    live = _shown(text, answer)
    uid = str(mapping_at(live, "metadata").get("uid") or "")
    manager = str(answer.get("__fieldManager") or "")
    return RecordedObject(text, reference_of(live), uid, manager, inputs)


def _shown(text: msgspec.Raw, answer: dict[str, Any]) -> KubeObject:
    shown = _without_notes(answer)
    return without_secrets(shown) if _SIGNATURE in bytes(text) else shown


class PendingOperation(msgspec.Struct, rename="camel", frozen=True):
    """An operation that was begun and never recorded as done: the engine was killed in it."""

    type: str
    resource: RecordedResource


class Deployment(msgspec.Struct, frozen=True):
    """What a checkpoint holds of a stack."""

    resources: tuple[RecordedResource, ...] = ()
    pending_operations: tuple[PendingOperation, ...] = ()


class _Checkpoint(msgspec.Struct):
    stack: str = ""
    latest: Deployment | None = None


class _CheckpointFile(msgspec.Struct):
    version: int = 0
    checkpoint: _Checkpoint | None = None


class _Export(msgspec.Struct):
    version: int = 0
    deployment: Deployment | None = None


class _Decompressor(Protocol):
    def decompress(self, data: bytes) -> bytes: ...


_CHECKPOINTS = msgspec.json.Decoder(_CheckpointFile)
_EXPORTS = msgspec.json.Decoder(_Export)


def decode_checkpoint(data: bytes, *, stack: str, place: str) -> Deployment:
    """Decode a checkpoint file of a self-managed backend; gzip and zstd are recognised.

    Args:
        data: The file's bytes.
        stack: Whose checkpoint it must be: `organization/<project>/<stack>`.
        place: The file, for the message of an error.

    Raises:
        EngineError: it is cut off, newer than this reader, or another stack's.
    """
    try:
        file = _CHECKPOINTS.decode(decompressed(data, place))
    except msgspec.DecodeError as error:
        raise _unreadable(place, error) from error
    _require_known_version(file.version, place)
    if file.checkpoint is None or file.checkpoint.stack != stack:
        found = file.checkpoint.stack if file.checkpoint else ""
        message = f"{place} belongs to {found or 'no stack'}, not to {stack}"
        raise EngineError(message, remedy="run 'pulumi up' on the stack to write its own")
    return file.checkpoint.latest or Deployment()


def decode_export(data: bytes, *, place: str) -> Deployment:
    """Decode what `pulumi stack export` prints.

    Raises:
        EngineError: it cannot be read or is newer than this reader.
    """
    try:
        export = _EXPORTS.decode(data)
    except msgspec.DecodeError as error:
        raise _unreadable(place, error) from error
    _require_known_version(export.version, place)
    return export.deployment or Deployment()


def decompressed(data: bytes, place: str) -> bytes:
    """The text of a state file, whatever it is compressed with.

    Raises:
        EngineError: it is cut off, or compressed with zstd and this Python cannot read that.
    """
    try:
        if data.startswith(_GZIP):
            return gzip.decompress(data)
        if data.startswith(_ZSTANDARD):
            return _zstandard(place).decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise _unreadable(place, error) from error
    return data


def _zstandard(place: str) -> _Decompressor:
    for name in ("compression.zstd", "backports.zstd", "pyzstd"):
        try:
            return cast("_Decompressor", importlib.import_module(name))
        except ImportError:
            continue
    message = f"{place} is compressed with zstd, which this Python cannot read"
    remedy = (
        "set PULUMI_DIY_BACKEND_GZIP=true instead of PULUMI_DIY_BACKEND_ZSTD and run 'pulumi up', "
        "or use Python 3.14"
    )
    raise EngineError(message, remedy=remedy)


def without_secrets(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """A copy without what the engine marks as a secret, an asset or a reference of its own."""
    if isinstance(value, dict):
        return {
            key: without_secrets(item)
            for key, item in value.items()
            if not (isinstance(item, dict) and _SIGNATURE_KEY in item)
        }
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    return value


def asked_object(inputs: Inputs | None) -> KubeObject | None:
    """The object that a program asks for; None without inputs, or when they are no object.

    What the program calls secret is left out. Any other value may be one all the same: what is
    shown of it is masked first.
    """
    if inputs is None:
        return None
    try:
        plain: Any = msgspec.json.decode(inputs.text)
    except msgspec.DecodeError:
        return None
    if not isinstance(plain, dict):
        return None
    known: KubeObject = without_secrets(_without_notes(plain))
    return known


def _without_notes(answer: dict[str, Any]) -> KubeObject:
    """An object without what the provider notes beside its fields."""
    return {key: value for key, value in answer.items() if not key.startswith("__")}


def _require_known_version(version: int, place: str) -> None:
    if version > NEWEST_VERSION:
        message = f"{place} has format {version}, newer than {NEWEST_VERSION}"
        raise EngineError(message, remedy="update Holdfast")


def _unreadable(place: str, error: Exception) -> EngineError:
    return EngineError(
        f"{place} cannot be read, it may be cut off ({error})",
        remedy="run 'holdfast recover' for the stack: it takes the newest copy that can be read",
    )
