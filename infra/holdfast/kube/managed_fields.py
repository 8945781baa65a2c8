"""`metadata.managedFields`: which manager owns which field, in which operation, since when.

A name is chosen by the client: a hint, never a proof. Ownership says who wrote a field last; who
removed one, and what admission changed, leave no entry.

Source: Kubernetes documentation, "Server-side apply"; structured-merge-diff, "fieldpath".
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import msgspec

from holdfast.kube.objects import mapping_at
from holdfast.kube.paths import ABSENT, ItemKey, Path, Segment, value_at

FIELD_MANAGER: Final = "holdfast"
"""The name under which everything of ours is applied, by any command."""

FIELD_MANAGER_ANNOTATION: Final = "pulumi.com/patchFieldManager"
"""Names the field manager of a declaration; the Pulumi provider applies the object under it."""

FieldSet = Mapping[str, Any]
"""The FieldsV1 form: `f:name`, `k:{"key":"value"}` and `v:"value"` to the same, `.` for itself."""


@dataclass(frozen=True)
class ManagerEntry:
    """One entry of managedFields.

    Attributes:
        operation: `Apply` or `Update`.
        subresource: `status`, `scale`, or empty for the object itself.
        time: RFC 3339, one second exact: the manager's latest change, not this field's.
        fields: What it owns.
    """

    manager: str
    operation: str
    subresource: str
    time: str
    fields: FieldSet = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class ManagedFields:
    """All entries of one object.

    Attributes:
        live: The object they belong to; resolves items by index.
    """

    entries: tuple[ManagerEntry, ...]
    live: Mapping[str, Any]

    @cached_property
    def of_object(self) -> tuple[ManagerEntry, ...]:
        """Entries that are not about the status subresource."""
        return tuple(entry for entry in self.entries if entry.subresource != "status")

    def owners_of(self, path: Path) -> tuple[ManagerEntry, ...]:
        """Entries that own what stands at a path or part of it, else a whole value around it."""
        found = [(entry, owned_depth(entry.fields, path, self.live)) for entry in self.entries]
        exact = tuple(entry for entry, depth in found if depth == len(path))
        return exact or tuple(entry for entry, depth in found if depth)

    @cached_property
    def say_nothing(self) -> bool:
        """Whether they were wiped, or never held anything about the object itself."""
        return not any(entry.fields for entry in self.of_object)


def read_managed_fields(live: Mapping[str, Any]) -> ManagedFields:
    """Entries of an object; raw JSON (as a scan keeps it) is decoded here. Never fails."""
    raw = mapping_at(live, "metadata").get("managedFields") or ()
    if isinstance(raw, msgspec.Raw | bytes):
        raw = msgspec.json.decode(raw) or ()
    listed = raw if isinstance(raw, list) else ()
    entries = (entry for entry in listed if isinstance(entry, Mapping) and entry.get("manager"))
    return ManagedFields(
        tuple(
            ManagerEntry(
                manager=str(entry["manager"]),
                operation=str(entry.get("operation") or ""),
                subresource=str(entry.get("subresource") or ""),
                time=str(entry.get("time") or ""),
                fields=mapping_at(entry, "fieldsV1"),
            )
            for entry in entries
        ),
        live,
    )


def owned_depth(fields: FieldSet, path: Path, live: Mapping[str, Any]) -> int:
    """How many segments of a path a field set owns; 0 when it owns nothing of it.

    The length of the path: the value or part of it is owned. Less: the value that many segments
    down is owned as a whole, which is how atomic lists and empty structs are recorded.
    """
    for position, segment in enumerate(path):
        if not fields:
            return position
        child = _child(fields, segment, lambda at=position: value_at(live, path[: at + 1]))
        if child is None:
            return 0
        fields = child
    return len(path)


def owned_paths(fields: FieldSet) -> Iterator[Path]:
    """The paths of a field set that have nothing below them; items of sets by their value."""
    for name, child in fields.items():
        if name == ".":
            continue
        kind, _, text = name.partition(":")
        segment: Segment = text
        if kind == "k":
            segment = ItemKey(tuple(json.loads(text).items()))
        elif kind == "v":
            segment = ItemKey((("", json.loads(text)),))
        below = list(owned_paths(_as_fields(child)))
        yield from ((segment, *path) for path in below or [()])


def _child(fields: FieldSet, segment: Segment, value: Any) -> FieldSet | None:  # noqa: ANN401
    if isinstance(segment, str):
        return fields.get(f"f:{segment}")
    wanted = dict(segment.pairs) if isinstance(segment, ItemKey) else value()
    for name, child in fields.items():
        if name.startswith("k:") and isinstance(wanted, Mapping):
            keys = json.loads(name[2:])
            if all(key not in wanted or wanted[key] == keys[key] for key in keys):
                return _as_fields(child)
        elif name.startswith("v:") and wanted is not ABSENT and json.loads(name[2:]) == wanted:
            return _as_fields(child)
    return None


def _as_fields(child: object) -> FieldSet:
    return child if isinstance(child, Mapping) else {}


def notations_of(entries: Iterable[ManagerEntry]) -> dict[str, dict[str, str]]:
    """What ownership gives away about types that no schema describes: keyed lists and sets.

    The result is a table of types whose root is called `root`, in the notation of `openapi`.
    """
    types: dict[str, dict[str, str]] = {}
    for entry in entries:
        _notations_below(types, "root.", entry.fields)
    return types


def _notations_below(types: dict[str, dict[str, str]], name: str, fields: FieldSet) -> None:
    here = types.setdefault(name, {"*": "any"})
    for key, below in fields.items():
        if not key.startswith("f:") or not below:
            continue
        inner = f"{name}.{re.sub(r'[^A-Za-z0-9_-]', '_', key[2:])}"
        items = [item for item in below if item[:2] in {"k:", "v:"}]
        if not items:
            here[key[2:]] = inner
            _notations_below(types, inner, below)
        elif items[0].startswith("v:"):
            here[key[2:]] = "[any]set"
        else:
            here[key[2:]] = f"[{inner}]{','.join(json.loads(items[0][2:]))}"
            for item in items:
                _notations_below(types, inner, _as_fields(below[item]))
