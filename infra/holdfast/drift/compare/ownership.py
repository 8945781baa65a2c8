"""Who owns the fields of one object, and whether what the declaration does not mention is drift.

The order of judgement: the server's own fields; the baseline; the owners; and for a field without
an owner, whether it can be a default. Admission leaves no owner, exactly like a default does, so an
unowned list item or a value other than the default counts as drift made by admission.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import msgspec

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.compare.comparison import compare_at
from holdfast.drift.compare.difference import Difference
from holdfast.drift.exemption.server_owned import is_server_owned
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.managed_fields import ManagedFields, ManagerEntry, read_managed_fields
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.paths import ABSENT, Path, value_at

_CONTROLLER: Final = "kube-controller-manager"
_ONE_SECOND: Final = 0.999


@dataclass(frozen=True)
class Ownership:
    """Owners of one live object's fields.

    Attributes:
        desired: The declaration (normalised), for telling wiped ownership from none.
        live: The object as the server has it, with its metadata.
        read_baseline: Reads the object as it was after the last good update, with its metadata; of
            an object in sync it is not asked for. None without.
        is_during_update: Whether the stack was being updated at a time (seconds since 1970); None
            when that is not known.
    """

    desired: Mapping[str, Any]
    live: Mapping[str, Any]
    read_baseline: Callable[[], Mapping[str, Any] | None] = lambda: None
    is_during_update: Callable[[float], bool] | None = None

    @cached_property
    def _baseline(self) -> Mapping[str, Any] | None:
        return self.read_baseline()

    @cached_property
    def normal_baseline(self) -> KubeObject | None:
        """The object as it was then, normalised; None without."""
        return None if self._baseline is None else normalise_object(self._baseline)

    @cached_property
    def managed(self) -> ManagedFields:
        """The decoded managed fields; decoded only for objects under suspicion."""
        return read_managed_fields(self.live)

    def owners_of(self, path: Path) -> tuple[ManagerEntry, ...]:
        """Entries that own a path; latest first."""
        return tuple(
            sorted(self.managed.owners_of(path), key=lambda entry: entry.time, reverse=True)
        )

    def writers_of(self, path: Path) -> tuple[ManagerEntry, ...]:
        """Owners that may have changed a path: those that have written since the baseline.

        Admission may rewrite what a manager owns and leaves the manager's name and time as they
        were: an owner that has not written since is none of those who did it.
        """
        owners = self.owners_of(path)
        return tuple(entry for entry in owners if _signature(entry) not in self._before)

    def is_of_strangers(self, path: Path) -> bool:
        """Whether a known manager that does not deploy wrote a path between two updates.

        An update that passes over such an addition records it; that makes it no intention.
        What is written while an update runs is of the controllers that react to it.
        """
        if self.is_during_update is None:
            return False
        return any(
            not is_deployer(entry.manager) and not self._is_of_update(entry.time)
            for entry in self.owners_of(path)
        )

    def _is_of_update(self, time: str) -> bool:
        assert self.is_during_update is not None  # noqa: S101  (the caller has looked)
        try:
            seconds = datetime.fromisoformat(time).timestamp()
        except ValueError:
            return True
        # Managed fields cut off what is below a second.
        return self.is_during_update(seconds) or self.is_during_update(seconds + _ONE_SECOND)

    @cached_property
    def _before(self) -> frozenset[tuple[str, str, str, str]]:
        if self._baseline is None:
            return frozenset()
        entries = read_managed_fields(self._baseline).entries
        return frozenset(_signature(entry) for entry in entries if entry.time)

    def names(self, field: str) -> bool:
        """Whether any owner names a field, without decoding: False is certain."""
        raw = mapping_at(self.live, "metadata").get("managedFields")
        return not isinstance(raw, msgspec.Raw) or f'"f:{field}"'.encode() in bytes(raw)

    @cached_property
    def is_wiped(self) -> bool:
        """Whether nothing of what was declared has an owner: the record was reset."""
        if self.managed.say_nothing:
            return True
        declared: list[tuple[str, ...]]
        declared = [(key,) for key in self.desired if key not in {"apiVersion", "kind", "metadata"}]
        metadata = mapping_at(self.desired, "metadata")
        declared += [("metadata", key) for key in ("labels", "annotations") if metadata.get(key)]
        owners = self.managed.of_object
        return bool(declared) and not any(
            path[-1] in _names(entry, path) for entry in owners for path in declared
        )

    def is_as_created(self, path: Path) -> bool:
        """Whether the server has seen no write to this part of the object since its creation.

        What has no owner then was set by the server or by admission when the object was made.
        `generation` counts changes outside metadata; the times in managed fields the others.
        """
        metadata = mapping_at(self.live, "metadata")
        generation = metadata.get("generation")
        if path[:1] != ("metadata",) and isinstance(generation, int):
            return generation == 1
        created = metadata.get("creationTimestamp")
        entries = [entry for entry in self.managed.of_object if entry.manager != _CONTROLLER]
        return bool(entries) and all(entry.time == created for entry in entries)


def _signature(entry: ManagerEntry) -> tuple[str, str, str, str]:
    return entry.manager, entry.operation, entry.subresource, entry.time


def _names(entry: ManagerEntry, path: tuple[str, ...]) -> set[str]:
    fields: Mapping[str, Any] = entry.fields
    for segment in path[:-1]:
        fields = mapping_at(fields, f"f:{segment}")
    return {key[2:] for key in fields if key.startswith("f:")}


def undeclared_drift(
    ref: ObjectRef,
    difference: Difference,
    ownership: Ownership,
) -> Iterator[Difference]:
    """What of an undeclared difference is drift: nothing, itself, or parts of it.

    Args:
        ref: The object.
        difference: A difference in what is not declared.
        ownership: Who owns the object's fields, and how it was after the last good update.
    """
    if difference.desired is ALLOCATED and not ownership.names(str(difference.path[-1])):
        return  # nearly every undeclared difference is one that the server allocated
    owners = ownership.owners_of(difference.path)
    managers = [entry.manager for entry in owners]
    if is_server_owned(ref, difference, managers, dict(ownership.desired)):
        return
    baseline = ownership.normal_baseline
    before = value_at(baseline, difference.path) if baseline is not None else ABSENT
    if before is not ABSENT:
        # The baseline says what was there: only what moved since then can be drift, and what an
        # update has passed over.
        since = list(compare_at(difference.position.undeclared(), before, difference.live))
        for moved in since:
            if _is_drift(moved, ownership, has_baseline=True):
                yield replace(moved, is_from_baseline=True)
        if not since and ownership.is_of_strangers(difference.path):
            yield difference
    elif _is_drift(difference, ownership, has_baseline=baseline is not None):
        yield difference


def _is_drift(difference: Difference, ownership: Ownership, *, has_baseline: bool) -> bool:
    if ownership.owners_of(difference.path):
        return True
    if difference.desired is ALLOCATED:
        return False
    if ownership.is_wiped:
        # Who wiped the record may also have made the object: its creation proves nothing.
        return True
    if not has_baseline and ownership.is_as_created(difference.path):
        return False
    return difference.position.is_known
