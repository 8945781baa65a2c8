"""Objects as the last good update left them: each read when somebody looks at it.

Of an object that is in sync nobody needs more than the uid that tells whether it is still the same.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.drift.finding import Objects
from holdfast.kube.objects import Identity, KubeObject, mapping_at


class RecordedObjects(Mapping[Identity, KubeObject]):
    """By identity; what reads an object is asked each time, and may keep it."""

    def __init__(
        self, readers: Mapping[Identity, Callable[[], KubeObject]], uids: Mapping[Identity, str]
    ) -> None:
        """Take what reads each object, and the uid that each had; empty where it is not known."""
        self._readers = readers
        self._uids = uids

    def __getitem__(self, identity: Identity) -> KubeObject:
        return self._readers[identity]()

    def __contains__(self, identity: object) -> bool:
        return identity in self._readers

    def __iter__(self) -> Iterator[Identity]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def uid_of(self, identity: Identity) -> str:
        """Uid that an object had; empty where there was none."""
        return self._uids.get(identity, "")


def recorded_uid(objects: Objects | None, identity: Identity) -> str:
    """Uid that an object had, without reading the object where that is possible."""
    if isinstance(objects, RecordedObjects):
        return objects.uid_of(identity)
    return uid_of(objects.get(identity, {})) if objects else ""


def uid_of(kube_object: Mapping[str, Any]) -> str:
    """Uid of a live object; empty where it has none."""
    return str(mapping_at(kube_object, "metadata").get("uid") or "")
