"""Who owns the fields of one object, and whether what the declaration does not mention is drift.

The order of judgement: the server's own fields; the baseline; the owners; and for a field without
an owner, whether it can be a default. Admission leaves no owner, exactly like a default does, so an
unowned list item or a value other than the default counts as drift made by admission.

A value that the baseline has is no drift, even if another client owns it now. Only what no other
client owned then is part of the baseline: an update records what it passes over, and what is
written while it runs; that makes neither an intention.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import msgspec

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.compare.comparison import compare_at
from holdfast.drift.compare.difference import Difference
from holdfast.drift.exemption.server_owned import (
    ExemptionContext,
    is_server_owned,
)
from holdfast.drift.exemption.writers import FieldWriter
from holdfast.kube.defaults import ALLOCATED, may_be_allocated
from holdfast.kube.managed_fields import ManagedFields, ManagerEntry, read_managed_fields
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.paths import ABSENT, Path, format_path, value_at

_CONTROLLER: Final = "kube-controller-manager"
_CODE: Final = re.compile(
    r"(spec\.template\.)?spec\.\w*[cC]ontainers\[[^\]]*\]($|\.(command|args|env|envFrom|lifecycle)\b)"
)
"""Containers as a whole, and what decides about what they run."""


def _unknown_user(_: ManagerEntry) -> str:
    return ""


@dataclass(frozen=True)
class Ownership:
    """Owners of one live object's fields.

    Attributes:
        desired: The declaration (normalised), to distinguish wiped ownership from none.
        live: The object as the server has it, with its metadata.
        read_baseline: Reads the object as it was after the last good update, with its metadata; of
            an object in sync it is not asked for. None without.
        is_recreated: The object is another one than that of the baseline: the server has chosen
            its addresses again.
        user_of: User of the write that an entry stands for; empty where it is not known.
        recent_users: Users who wrote to the object since its deployment, as far as they are known.
        controllers: Controllers that the stack's settings name.
        believes_names: See `ExemptionContext`.
        is_made: A controller made the object from a template: what admission added to what its
            containers run is drift, although it was there from the beginning.
    """

    desired: Mapping[str, Any]
    live: Mapping[str, Any]
    read_baseline: Callable[[], Mapping[str, Any] | None] = lambda: None
    is_recreated: bool = False
    user_of: Callable[[ManagerEntry], str] = _unknown_user
    recent_users: Callable[[], tuple[str, ...]] = tuple
    controllers: frozenset[str] = frozenset()
    believes_names: bool = True
    is_made: bool = False

    @cached_property
    def exemptions(self) -> ExemptionContext:
        """What decides about an exemption."""
        return ExemptionContext(
            self.desired, self.live, self.controllers, self.believes_names, self.recent_users
        )

    def field_writers_of(self, path: Path) -> tuple[FieldWriter, ...]:
        """Owners of a path, with the users behind them."""
        owners = self.owners_of(path)
        return tuple(FieldWriter(each.manager, self.user_of(each)) for each in owners)

    @cached_property
    def baseline(self) -> Mapping[str, Any] | None:
        """The object as it was after the last good update; None without."""
        return self.read_baseline()

    @cached_property
    def normal_baseline(self) -> KubeObject | None:
        """The object as it was then, normalised; None without."""
        return None if self.baseline is None else normalise_object(self.baseline)

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
        """Whether another client than the deployer owned a path when the baseline was recorded."""
        owners = self._managed_before.owners_of(path)
        return any(not is_deployer(entry.manager) for entry in owners)

    @cached_property
    def _managed_before(self) -> ManagedFields:
        return read_managed_fields(self.baseline or {})

    @cached_property
    def _before(self) -> frozenset[tuple[str, str, str, str]]:
        entries = self._managed_before.entries
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
    path = difference.path
    if _is_plainly_allocated(difference, ownership):
        return
    if is_server_owned(ref, difference, ownership.field_writers_of(path), ownership.exemptions):
        return
    baseline = ownership.normal_baseline
    before = value_at(baseline, path) if baseline is not None else ABSENT
    if (
        before is ABSENT
        or ownership.is_of_strangers(path)
        or _is_chosen_again(difference, ownership)
    ):
        if _is_drift(difference, ownership, has_baseline=baseline is not None):
            yield difference
        return
    # The baseline says what was there: only what moved since then can be drift.
    for moved in compare_at(difference.position.undeclared(), before, difference.live):
        if difference.desired is ALLOCATED or _is_drift(moved, ownership, has_baseline=True):
            yield replace(moved, is_from_baseline=True)


def _is_plainly_allocated(difference: Difference, ownership: Ownership) -> bool:
    """Whether nobody owns what the server allocated, and it is as recorded: nearly always so."""
    path = difference.path
    if difference.desired is not ALLOCATED or ownership.names(str(path[-1])):
        return False
    recorded = None if ownership.is_recreated else ownership.baseline
    before = value_at(recorded, path) if recorded is not None else ABSENT
    if before is ABSENT:
        return may_be_allocated(path, difference.live, ownership.live)
    return bool(before == difference.live)


def _is_chosen_again(difference: Difference, ownership: Ownership) -> bool:
    return ownership.is_recreated and difference.desired is ALLOCATED


def _is_drift(difference: Difference, ownership: Ownership, *, has_baseline: bool) -> bool:
    if difference.desired is ALLOCATED:
        is_chosen = may_be_allocated(difference.path, difference.live, ownership.live)
        return not is_chosen or bool(ownership.owners_of(difference.path))
    if ownership.owners_of(difference.path):
        return True
    if ownership.is_wiped:
        # Who wiped the record may also have made the object: its creation proves nothing.
        return True
    if not has_baseline and ownership.is_as_created(difference.path):
        return ownership.is_made and _CODE.match(format_path(difference.path)) is not None
    return difference.position.is_known
