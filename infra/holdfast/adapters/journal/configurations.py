"""What was declared when a scan was made: each object kept once, however many scans saw it.

Values that look like credentials are masked before they are written.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from holdfast.drift.masking import mask_value
from holdfast.kube.objects import KubeObject

_HEX_DIGITS = 16


class Kept(msgspec.Struct, omit_defaults=True):
    """The part of a journal's line that is about the declaration.

    Attributes:
        configuration: Digest of all that was declared; empty in what older versions wrote.
        members: Digest of each object, in order; only in the first line with this configuration.
        objects: The objects that no earlier line holds, by digest.
    """

    configuration: str = ""
    members: list[str] | None = None
    objects: dict[str, msgspec.Raw] | None = None


@dataclass
class Configurations:
    """The declarations of a journal, gathered line by line."""

    _members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _objects: dict[str, msgspec.Raw] = field(default_factory=dict)

    def take(self, kept: Kept) -> None:
        """Take what a line holds."""
        self._objects.update(kept.objects or {})
        if kept.members is not None:
            self._members[kept.configuration] = tuple(kept.members)

    def line_for(self, declared: Sequence[KubeObject]) -> Kept:
        """What the line of the next scan says of its declaration."""
        if not declared:
            return Kept()
        digest = _digest(msgspec.json.encode(declared))
        if digest in self._members:
            return Kept(digest)
        texts = [msgspec.json.encode(mask_value(_shown(one))) for one in declared]
        digests = [_digest(text) for text in texts]
        new = {
            key: msgspec.Raw(text)
            for key, text in zip(digests, texts, strict=True)
            if key not in self._objects
        }
        return Kept(digest, digests, new)

    def declared(self, digest: str) -> tuple[KubeObject, ...] | None:
        """The objects of a configuration, masked; None when it is not known."""
        members = self._members.get(digest)
        if members is None or any(key not in self._objects for key in members):
            return None
        return tuple(msgspec.json.decode(self._objects[key]) for key in members)


def _shown(one: Mapping[str, object]) -> Mapping[str, object]:
    """The object without the data of a Secret."""
    if one.get("kind") != "Secret":
        return one
    hidden = {"data", "stringData"} & one.keys()
    return {**one, **{key: {} for key in hidden}}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_HEX_DIGITS]
