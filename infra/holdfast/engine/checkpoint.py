"""A checkpoint of a stack: the resources the engine recorded, and the Kubernetes objects in them.

Values that the engine encrypted are left out of the objects, unread.
"""

import gzip
import importlib
import zlib
from typing import Any, Protocol, cast

import msgspec

from holdfast.engine.events import KUBERNETES_TYPE_PREFIX
from holdfast.errors import EngineError
from holdfast.kube.objects import KubeObject

NEWEST_VERSION = 4
"""Newest checkpoint format read here; 4 adds a list of features to 3."""

_GZIP = b"\x1f\x8b"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
# With this key a mapping is no data but a secret, asset or reference of the engine.
_SIGNATURE = "4dabf18193072939515e22adb298388d"


class RecordedResource(msgspec.Struct, rename="camel", frozen=True):
    """One resource of a checkpoint, as the engine wrote it.

    Attributes:
        inputs: JSON text of what the program asked for.
        outputs: What the provider answered: the whole live object and the provider's notes.
        created: When it was created, RFC 3339; empty when an old engine wrote it.
        modified: When its record last changed, by an update or by a refresh.
    """

    urn: str
    type: str
    custom: bool = False
    delete: bool = False
    external: bool = False
    inputs: msgspec.Raw = msgspec.Raw(b"{}")
    outputs: dict[str, Any] | None = None
    created: str = ""
    modified: str = ""

    @property
    def is_kubernetes_object(self) -> bool:
        """Whether it stands for one object that the stack owns."""
        return (
            self.custom
            and not self.delete
            and not self.external
            and self.type.startswith(KUBERNETES_TYPE_PREFIX)
            and bool(self.outputs)
            and {"apiVersion", "kind", "metadata"} <= (self.outputs or {}).keys()
        )

    @property
    def uid(self) -> str:
        """UID of the live object; empty when none was recorded."""
        metadata = (self.outputs or {}).get("metadata")
        return str(metadata.get("uid") or "") if isinstance(metadata, dict) else ""

    @property
    def field_manager(self) -> str:
        """Field manager under which the provider applied the object; empty when unknown."""
        return str((self.outputs or {}).get("__fieldManager") or "")

    def live_object(self) -> KubeObject:
        """The object as it was live, without the provider's notes and without secrets."""
        outputs = self.outputs or {}
        shown = {key: value for key, value in outputs.items() if not key.startswith("__")}
        return cast("KubeObject", _without_secrets(shown))


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
        found = file.checkpoint.stack if file.checkpoint else "no stack"
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


def _without_secrets(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    if isinstance(value, dict):
        return {
            key: _without_secrets(item)
            for key, item in value.items()
            if not (isinstance(item, dict) and _SIGNATURE in item)
        }
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def _require_known_version(version: int, place: str) -> None:
    if version > NEWEST_VERSION:
        message = f"{place} has format {version}, newer than {NEWEST_VERSION}"
        raise EngineError(message, remedy="update Holdfast")


def _unreadable(place: str, error: Exception) -> EngineError:
    return EngineError(
        f"{place} cannot be read, it may be cut off ({error})",
        remedy="restore it with 'pulumi stack import --file' from an older checkpoint",
    )
