"""One path where two objects differ, and the place in the tree of types where it was seen."""

from dataclasses import dataclass
from typing import Any

from holdfast.drift.finding import DriftClass, ExpectedBy
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.paths import ABSENT, Path, Segment
from holdfast.kube.structure import ListType, Structure


@dataclass(frozen=True, slots=True)
class TypePosition:
    """Where a comparison stands.

    Attributes:
        is_declared: The declaration, not a default, says what should be here.
        is_known: The type around it names the field, so that absent would be its default.
        is_in_whole: Part of a value that server-side apply writes as a whole.
    """

    structure: Structure
    path: Path = ()
    is_declared: bool = True
    is_known: bool = True
    is_in_whole: bool = False

    def field(self, name: str) -> "TypePosition":
        """The field of a struct or the value of a map."""
        return self._below(self.structure.field(name), name)

    def item(self, segment: Segment) -> "TypePosition":
        """An item of a list."""
        return self._below(self.structure.item, segment)

    def _below(self, structure: Structure, segment: Segment) -> "TypePosition":
        is_in_whole = self.is_in_whole or self.structure.is_atomic
        path = (*self.path, segment)
        return TypePosition(structure, path, self.is_declared, is_in_whole=is_in_whole)

    def undeclared(self, *, is_known: bool = True) -> "TypePosition":
        """The same position, of which the declaration says nothing."""
        return TypePosition(self.structure, self.path, False, is_known, self.is_in_whole)


@dataclass(frozen=True, slots=True)
class Difference:
    """One path where two objects differ.

    Attributes:
        desired: Declared value or default of an undeclared field; ABSENT when there is none;
            ALLOCATED where the server chooses the value.
        live: Value found; ABSENT when removed.
        is_from_baseline: `desired` is what the object had before, not a default.
    """

    position: TypePosition
    drift_class: DriftClass
    desired: Any
    live: Any
    is_from_baseline: bool = False

    @property
    def expected_by(self) -> ExpectedBy:
        """Where the expected value comes from."""
        if self.position.is_declared:
            return ExpectedBy.DECLARATION
        if self.desired is ABSENT:
            return ExpectedBy.NOBODY
        if self.desired is ALLOCATED:
            return ExpectedBy.SERVER
        return ExpectedBy.BASELINE if self.is_from_baseline else ExpectedBy.DEFAULT

    @property
    def path(self) -> Path:
        """Field path of the difference."""
        return self.position.path

    @property
    def leaves_owner(self) -> bool:
        """Whether who did this owns the field afterwards: not by removing or reordering."""
        structure = self.position.structure
        is_order = isinstance(self.live, list) and structure.list_type is ListType.KEYED
        return self.drift_class is not DriftClass.REMOVED and not is_order

    @property
    def is_declared(self) -> bool:
        """Whether the declaration, not a default, says what should be here."""
        return self.position.is_declared
