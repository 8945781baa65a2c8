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


class SnapshotEntry(msgspec.Struct, omit_defaults=True):
    """The part of a journal's line that is about the declaration.

    Attributes:
        configuration: Digest of all that was declared; empty in what older versions wrote.
        members: Digest of each object, in order; only where no earlier line has them.
        objects: The objects that no earlier line holds, by digest.
    """

    configuration: str = ""
    members: list[str] | None = None
    objects: dict[str, msgspec.Raw] | None = None


@dataclass
class DeclarationSnapshots:
    """The declarations of a journal, gathered line by line."""

    _members: dict[str, list[str]] = field(default_factory=dict)
    _objects: dict[str, msgspec.Raw] = field(default_factory=dict)

    def take(self, kept: SnapshotEntry) -> None:
        """Take what a line holds."""
        self._objects.update(kept.objects or {})
        if kept.members is not None:
            self._members[kept.configuration] = kept.members

    def members(self, configuration: str) -> list[str]:
        """Digests of the objects of a configuration; empty when it is not known."""
        return self._members.get(configuration, [])

    def declared(self, configuration: str) -> tuple[KubeObject, ...] | None:
        """The objects of a configuration, masked; None when it is not known."""
        members = self._members.get(configuration)
        if members is None or any(key not in self._objects for key in members):
            return None
        return tuple(msgspec.json.decode(self._objects[key]) for key in members)

    def whole(self, configuration: str) -> SnapshotEntry:
        """A line's part that refers to no other line."""
        members = self._members.get(configuration)
        known = {key: self._objects[key] for key in members or () if key in self._objects}
        return SnapshotEntry(configuration, members, known)


@dataclass
class SnapshotWriter:
    """What the lines of a journal hold already, so that no line repeats it.

    Attributes:
        configuration: The newest one.
        members: Digests of its objects, all of which are written.
    """

    configuration: str = ""
    members: list[str] = field(default_factory=list)

    def entry_for(self, declared: Sequence[KubeObject]) -> SnapshotEntry:
        """What the line of the next scan says of its declaration."""
        if not declared:
            return SnapshotEntry()
        configuration = _digest(msgspec.json.encode(declared))
        if configuration == self.configuration:
            return SnapshotEntry(configuration)
        texts = [msgspec.json.encode(mask_value(_shown(one))) for one in declared]
        members = [_digest(text) for text in texts]
        objects = {key: msgspec.Raw(text) for key, text in zip(members, texts, strict=True)}
        return self.without_known(SnapshotEntry(configuration, members, objects))

    def without_known(self, kept: SnapshotEntry) -> SnapshotEntry:
        """The part that no line holds yet; it counts as written from now on."""
        if kept.configuration == self.configuration or kept.members is None:
            return SnapshotEntry(kept.configuration)
        known = set(self.members)
        new = {key: text for key, text in (kept.objects or {}).items() if key not in known}
        self.configuration, self.members = kept.configuration, kept.members
        return SnapshotEntry(kept.configuration, kept.members, new)


def _shown(one: Mapping[str, object]) -> Mapping[str, object]:
    """The object without the data of a Secret."""
    if one.get("kind") != "Secret":
        return one
    hidden = {"data", "stringData"} & one.keys()
    return {**one, **{key: {} for key in hidden}}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_HEX_DIGITS]
