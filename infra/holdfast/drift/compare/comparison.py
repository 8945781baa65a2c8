"""Compare two objects field by field, with what the types say: keys, sets, quantities, defaults.

Fields that only the live object has are reported too, as undeclared, unless they hold the server's
default. Whether those matter is for `undeclared` to judge; nothing here knows of owners.

Laws: `compare(a, a)` is empty; no path is in two of changed, removed, added; the inputs are not
changed; a keyed list may be reordered without a difference.
Source: kubernetes-sigs/structured-merge-diff, "typed", Comparison.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any, Final

from holdfast.drift.compare.difference import Difference, TypePosition
from holdfast.drift.compare.list_comparison import compare_lists
from holdfast.drift.finding import DriftClass
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.objects import canonical_json
from holdfast.kube.paths import ABSENT
from holdfast.kube.scalars import parse_bytes, parse_duration, parse_quantity
from holdfast.kube.semantics import CANONICAL
from holdfast.kube.structure import ListType, Shape, Structure

JsonObject = Mapping[str, Any]

_IDENTITY_FIELDS: Final = frozenset({"apiVersion", "kind"})
_IDENTITY_METADATA: Final = frozenset({"name", "namespace", "generateName"})
_EMPTY: Final[tuple[Any, ...]] = ({}, [])
_MILLI: Final = 1000
_PARSERS: Final[dict[str, Any]] = {
    "quantity": parse_quantity,
    "duration": parse_duration,
    "bytes": parse_bytes,
}


def compare(desired: JsonObject, live: JsonObject, structure: Structure) -> list[Difference]:
    """Differences between two normalised objects of one identity, in the order of the walk."""
    return compare_at(TypePosition(structure), _body(desired), _body(live))


def compare_at(position: TypePosition, desired: Any, live: Any) -> list[Difference]:  # noqa: ANN401  (JSON)
    """Differences between two values at one position."""
    walk = Walk()
    walk.value(position, desired, live)
    return walk.found


def _body(kube_object: JsonObject) -> dict[str, Any]:
    body = {key: value for key, value in kube_object.items() if key not in _IDENTITY_FIELDS}
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping):
        body["metadata"] = {
            key: value for key, value in metadata.items() if key not in _IDENTITY_METADATA
        }
    return body


def is_same_json(first: Any, second: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether two JSON values are equal; to Python `True` and `1` are, at any depth."""
    if first != second:
        return False
    if isinstance(first, dict | list):
        # Equal text is the common case, and asked for in one step.
        return canonical_json(first) == canonical_json(second) or _has_same_booleans(first, second)
    return isinstance(first, bool) == isinstance(second, bool)


def _has_same_booleans(first: Any, second: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether two values that are equal to Python have their booleans in the same places."""
    if isinstance(first, dict):
        return all(_has_same_booleans(value, second[key]) for key, value in first.items())
    if isinstance(first, list):
        return all(map(_has_same_booleans, first, second))
    return isinstance(first, bool) == isinstance(second, bool)


def is_same_scalar(structure: Structure, want: Any, have: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether two scalars mean the same: `1000m` and `1` where the type is a quantity."""
    if is_same_json(want, have):
        return True
    parse = _PARSERS.get(structure.notation)
    if parse is None:
        return False
    try:
        wanted, found = parse(want), parse(have)
        # The server rounds resources up to thousandths (core/v1 SetDefaults_ResourceList).
        is_rounded = parse is parse_quantity and found == Fraction(ceil(wanted * _MILLI), _MILLI)
        return bool(wanted == found or is_rounded)
    except (ValueError, TypeError, AttributeError):
        return False


class Walk:
    """One comparison under way.

    Attributes:
        found: Differences so far.
    """

    def __init__(self) -> None:
        self.found: list[Difference] = []

    def note(self, at: TypePosition, drift_class: DriftClass, desired: Any, live: Any) -> None:  # noqa: ANN401
        """Record one difference."""
        self.found.append(Difference(at, drift_class, desired, live))

    def value(self, position: TypePosition, want: Any, have: Any) -> None:  # noqa: ANN401  (JSON values)
        """Compare whatever stands at a position."""
        if isinstance(want, dict) and isinstance(have, dict):
            self.struct(position, want, have)
        elif isinstance(want, list) and isinstance(have, list):
            if not is_same_json(want, have):
                compare_lists(self, position, want, have)
        elif position.structure.omits_zero and _is_nothing(want) and _is_nothing(have):
            return
        elif not is_same_scalar(position.structure, want, have):
            self.note(position, DriftClass.CHANGED, want, have)

    def struct(self, position: TypePosition, want: JsonObject, have: JsonObject) -> None:
        """Compare two structs or maps."""
        canonical = CANONICAL.get(position.structure.notation)
        if canonical is not None:
            want, have = canonical(want), canonical(have)
        for key, wanted in want.items():
            found = have.get(key)
            if found is None:
                if position.is_declared and wanted is not None:
                    self.missing(position, key, want)
            elif wanted is None or (not wanted and _is_unset(position.structure, key, found)):
                self.surplus(position, key, want, have)
            elif wanted is not found and not is_same_json(wanted, found):
                self.value(position.field(key), wanted, found)
        for key, found in have.items():
            if found is not None and key not in want:
                self.surplus(position, key, want, have)

    def missing(self, parent: TypePosition, key: str, want: JsonObject) -> None:
        """A declared field that is not there: nothing to say when that means the same."""
        position, wanted = parent.field(key), want[key]
        structure = position.structure
        if wanted in _EMPTY:
            if not structure.omits_zero:
                self.note(position, DriftClass.REMOVED, wanted, ABSENT)
        elif structure.omits_zero and structure.shape is Shape.SCALAR and not wanted:
            return
        elif _is_open(structure):
            self.value(position, wanted, {} if isinstance(wanted, dict) else [])
        elif not _is_default(parent, key, want):
            self.note(position, DriftClass.REMOVED, wanted, ABSENT)

    def surplus(self, parent: TypePosition, key: str, want: JsonObject, have: JsonObject) -> None:
        """A field that is not declared: nothing to say when it holds the default."""
        position, found = parent.field(key), have[key]
        is_known = parent.structure.knows(key)
        if not (position.is_in_whole and is_known):
            # What is written as a whole is declared as a whole; elsewhere others may add.
            position = position.undeclared(is_known=is_known)
        structure = position.structure
        is_zero = structure.omits_zero and structure.shape is Shape.SCALAR and not found
        if is_zero or (found in _EMPTY and structure.omits_zero):
            return
        default = parent.structure.defaults.get(key, ABSENT)
        if callable(default):
            # The value may have been filled in for what was declared or for what is there now.
            computed = [default(want), default(have)]
            if any(
                value is not ABSENT and not compare_at(position, value, found) for value in computed
            ):
                return
            default = computed[0]
        if default is ALLOCATED:
            self.note(position, DriftClass.CHANGED, ALLOCATED, found)
        elif default is not ABSENT:
            self.value(position, default, found)
        elif _is_open(structure) and isinstance(found, dict | list) and found:
            self.value(position, {} if isinstance(found, dict) else [], found)
        else:
            self.note(position, DriftClass.ADDED, ABSENT, found)


def _is_nothing(value: Any) -> bool:  # noqa: ANN401  (JSON value)
    return value is None or value in _EMPTY


def _is_unset(parent: Structure, key: str, found: Any) -> bool:  # noqa: ANN401  (JSON value)
    """Whether a declared zero was filled with the default: the server does not distinguish it.

    A zero where there is no default is a value like any other: `hostNetwork: false`.
    """
    inner = parent.field(key)
    is_zero = found and inner.omits_zero and inner.shape is Shape.SCALAR
    return bool(is_zero and key in parent.defaults)


def _is_default(parent: TypePosition, key: str, want: JsonObject) -> bool:
    default = parent.structure.defaults.get(key, ABSENT)
    if callable(default):
        default = default(want)
    if default is ABSENT or default is ALLOCATED:
        return False
    return not any(one.is_declared for one in compare_at(parent.field(key), want[key], default))


def _is_open(structure: Structure) -> bool:
    """Whether anybody may add to the value, so that its parts count one by one."""
    if structure.shape is Shape.MAP:
        return not structure.is_atomic
    if structure.shape is Shape.STRUCT:
        return structure.omits_zero  # always there, if only empty
    return structure.shape is Shape.LIST and structure.list_type in {ListType.KEYED, ListType.SET}
